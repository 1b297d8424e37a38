import { median } from 'simple-statistics';
import { drainOnce } from '../../delivery/drain-once.ts';
import type { Part } from '../../delivery/part.ts';
import { withStack } from '../../delivery/stack.ts';
import { createOurReplays } from '../our-replays.ts';
import { rateMarkdown, type RateResult } from '../report.ts';

const responseTimesMs = [20, 100, 400];
/** The requests of one subscription at the same time. */
const requestsMax = 16;

export const rate: Part<RateResult> = {
  summary:
    'the rate of a replay beside that of new events in an idle subscription, for receivers of 20, 100 and 400 ms',

  async run({ quick, progress }) {
    const [rounds, seconds] = quick ? [1, 0.5] : [5, 3];
    return withStack({ receivers: responseTimesMs.length }, async (stack, defer) => {
      const { system, receiver } = stack;
      const replays = createOurReplays(system.databaseUrl);
      defer(() => replays.close());
      const accounts = await system.addAccounts(
        responseTimesMs.map((responseMs, index) => [`${receiver.origins[index] ?? ''}/slow/${responseMs}`]),
      );
      await system.startWorker();
      const results: RateResult['receivers'] = [];
      for (const [index, responseMs] of responseTimesMs.entries()) {
        const account = accounts[index];
        if (account === undefined) throw new Error('There is no account.');
        const deliveries = Math.ceil(((requestsMax * 1000) / responseMs) * seconds);
        const replayOnce = async (): Promise<number> => {
          const range = await replays.markFailed(account, { deliveries, step: 1 });
          await receiver.forget();
          const startMs = performance.now();
          const replay = await replays.start(account, range, true);
          await receiver.waitFor(deliveries);
          await system.untilSettled();
          const elapsedMs = performance.now() - startMs;
          const queued = await replay.ended();
          if (queued !== deliveries) throw new Error(`${queued} of ${deliveries} deliveries were replayed.`);
          return (deliveries / elapsedMs) * 1000;
        };
        progress(`${responseMs} ms: warm-up`);
        await drainOnce(stack, [account], deliveries, 1);
        await replayOnce();
        const measured: { idle: number; replayed: number }[] = [];
        for (let round = 1; round <= rounds; round += 1) {
          const idle = await drainOnce(stack, [account], deliveries, 1);
          const replayed = await replayOnce();
          measured.push({ idle, replayed });
          progress(
            `${responseMs} ms, round ${round} of ${rounds}: ${Math.round(replayed)} and ${Math.round(idle)} per second (${(replayed / idle).toFixed(2)} ×)`,
          );
        }
        results.push({
          responseMs,
          deliveries,
          idlePerSecond: median(measured.map(({ idle }) => idle)),
          replayPerSecond: median(measured.map(({ replayed }) => replayed)),
          rateRatio: median(measured.map(({ idle, replayed }) => replayed / idle)),
        });
      }
      return { rounds, receivers: results };
    });
  },

  markdown: rateMarkdown,
};
