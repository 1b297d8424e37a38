import { median } from 'simple-statistics';
import { type LatencySummary, medianLatency } from '../../delivery/latency-summary.ts';
import { measureLatencies } from '../../delivery/measure-latency.ts';
import { fillFailures } from '../../delivery/ours/fill-failures.ts';
import type { Part } from '../../delivery/part.ts';
import { withStack } from '../../delivery/stack.ts';
import { createOurReplays } from '../our-replays.ts';
import { besideMarkdown, type BesideResult } from '../report.ts';

const responseMs = 100;
/** New events of each account. */
const perSecond = 20;

interface Round {
  alone: readonly [live: LatencySummary, others: LatencySummary];
  beside: readonly [live: LatencySummary, others: LatencySummary];
  replayedPerSecond: number;
}

export const beside: Part<BesideResult> = {
  summary:
    'the latency of new events beside a replay of 100,000 deliveries to a slow receiver, and that of another account',

  async run({ quick, progress }) {
    const { rounds, events, failures } = quick
      ? { rounds: 1, events: 20, failures: 1_000 }
      : { rounds: 5, events: 400, failures: 100_000 };
    return withStack({ receivers: 2 }, async (stack, defer) => {
      const { system, receiver } = stack;
      const replays = createOurReplays(system.databaseUrl);
      defer(() => replays.close());
      const [slowOrigin = '', otherOrigin = ''] = receiver.origins;
      const accounts = await system.addAccounts([[`${slowOrigin}/probe/${responseMs}`], [`${otherOrigin}/probe`]]);
      const [account] = accounts;
      if (account === undefined) throw new Error('There is no account.');
      progress(`Storing ${failures} failed deliveries`);
      await fillFailures(system.databaseUrl, account, failures);
      const range = await replays.markFailed(account, { deliveries: failures, step: 1 });
      await system.startWorker();
      const measure = async (count: number): Promise<Round['alone']> => {
        const [live, others] = await measureLatencies(stack, accounts, { events: count, perSecond });
        if (live === undefined || others === undefined) throw new Error('There is no latency.');
        return [live, others];
      };
      // Compiles the code and opens the connections.
      await measure(quick ? 5 : 100);
      const measured: Round[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const alone = await measure(events);
        const replay = await replays.start(account, range, true);
        const startMs = performance.now();
        const replayedBefore = await replay.queued();
        const withReplay = await measure(events);
        const replayed = (await replay.queued()) - replayedBefore;
        const replayedPerSecond = (replayed / (performance.now() - startMs)) * 1000;
        await replay.cancel();
        await system.untilSettled();
        if (replayed === 0) throw new Error('The replay queued nothing.');
        measured.push({ alone, beside: withReplay, replayedPerSecond });
        progress(
          `Round ${round} of ${rounds}: p99 ${alone[0].p99Ms.toFixed(1)} and ${withReplay[0].p99Ms.toFixed(1)} ms, another account ${alone[1].p99Ms.toFixed(1)} and ${withReplay[1].p99Ms.toFixed(1)} ms, ${Math.round(replayedPerSecond)} replayed per second`,
        );
      }
      const medianOf = (value: (round: Round) => number): number => median(measured.map(value));
      return {
        rounds,
        responseMs,
        failures,
        replayedPerSecond: medianOf((round) => round.replayedPerSecond),
        live: {
          alone: medianLatency(measured.map(({ alone: [live] }) => live)),
          beside: medianLatency(measured.map(({ beside: [live] }) => live)),
          longerMs: medianOf((round) => round.beside[0].p99Ms - round.alone[0].p99Ms),
        },
        others: {
          alone: medianLatency(measured.map(({ alone: [, others] }) => others)),
          beside: medianLatency(measured.map(({ beside: [, others] }) => others)),
          p99Ratio: medianOf((round) => round.beside[1].p99Ms / round.alone[1].p99Ms),
        },
      };
    });
  },

  markdown: besideMarkdown,
};
