import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { drainOnce, withStack } from '../../delivery/stack.ts';
import { createOurReplays } from '../our-replays.ts';

const responseTimesMs = [20, 100, 400];
/** The requests of one subscription at the same time. */
const requestsMax = 16;

export function measureRate({ quick, progress }: BenchOptions) {
  const [rounds, seconds] = quick ? [1, 0.5] : [5, 3];
  return withStack(responseTimesMs.length, async (stack, defer) => {
    const { system, receiver } = stack;
    const replays = createOurReplays(system, defer);
    const accounts = await system.addAccounts(
      responseTimesMs.map((responseMs, index) => [`${receiver.origins[index] ?? ''}/slow/${responseMs}`]),
    );
    await system.startWorker();
    const results = [];
    for (const [index, account] of accounts.entries()) {
      const responseMs = responseTimesMs[index] ?? Number.NaN;
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
      await drainOnce(stack, [account], deliveries);
      await replayOnce();
      const measured: { idle: number; replayed: number }[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const idle = await drainOnce(stack, [account], deliveries);
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
}
