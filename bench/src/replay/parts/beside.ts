import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { type LatencySummary, measureLatencies, medianLatency } from '../../delivery/latency.ts';
import { fillFailures } from '../../delivery/ours/fill-history.ts';
import { withStack } from '../../delivery/stack.ts';
import { createOurReplays } from '../our-replays.ts';

export type BesideResult = Awaited<ReturnType<typeof measureBeside>>;

const responseMs = 100;
/** New events of each account. */
const perSecond = 20;

interface Accounts {
  live: LatencySummary;
  others: LatencySummary;
}

interface Round {
  alone: Accounts;
  beside: Accounts;
  replayedPerSecond: number;
}

export function measureBeside({ quick, progress }: BenchOptions) {
  const [rounds, events, failures] = quick ? [1, 20, 1_000] : [5, 400, 100_000];
  return withStack(2, async (stack, defer) => {
    const { system, receiver } = stack;
    const replays = createOurReplays(system, defer);
    const [slowOrigin = '', otherOrigin = ''] = receiver.origins;
    const account = await system.addAccount([`${slowOrigin}/probe/${responseMs}`]);
    const accounts = [account, await system.addAccount([`${otherOrigin}/probe`])];
    progress(`Storing ${failures} failed deliveries`);
    await fillFailures(system.databaseUrl, account, failures);
    const range = await replays.markFailed(account, { deliveries: failures, step: 1 });
    await system.startWorker();
    const measure = async (count: number): Promise<Accounts> => {
      const [live, others] = await measureLatencies(stack, accounts, { events: count, perSecond });
      if (live === undefined || others === undefined) throw new Error('There is no latency.');
      return { live, others };
    };
    // Compiles the code and opens the connections.
    await measure(quick ? 5 : 100);
    const measured: Round[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const alone = await measure(events);
      const replay = await replays.start(account, range, true);
      const startMs = performance.now();
      const replayedBefore = await replay.queued();
      const beside = await measure(events);
      const replayed = (await replay.queued()) - replayedBefore;
      const replayedPerSecond = (replayed / (performance.now() - startMs)) * 1000;
      await replay.cancel();
      await system.untilSettled();
      if (replayed === 0) throw new Error('The replay queued nothing.');
      measured.push({ alone, beside, replayedPerSecond });
      const p99 = (of: keyof Accounts): string => `${alone[of].p99Ms.toFixed(1)} and ${beside[of].p99Ms.toFixed(1)} ms`;
      progress(
        `Round ${round} of ${rounds}: p99 ${p99('live')}, another account ${p99('others')}, ${Math.round(replayedPerSecond)} replayed per second`,
      );
    }
    const medianOf = (value: (round: Round) => number): number => median(measured.map(value));
    const latencies = (of: keyof Accounts) => ({
      alone: medianLatency(measured.map(({ alone }) => alone[of])),
      beside: medianLatency(measured.map(({ beside }) => beside[of])),
    });
    return {
      rounds,
      responseMs,
      failures,
      replayedPerSecond: medianOf((round) => round.replayedPerSecond),
      live: { ...latencies('live'), longerMs: medianOf(({ alone, beside }) => beside.live.p99Ms - alone.live.p99Ms) },
      others: {
        ...latencies('others'),
        p99Ratio: medianOf(({ alone, beside }) => beside.others.p99Ms / alone.others.p99Ms),
      },
    };
  });
}
