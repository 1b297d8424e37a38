import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { type LatencySummary, measureLatencies, medianLatency } from '../../delivery/latency.ts';
import { fillHistory } from '../../delivery/ours/fill-history.ts';
import { withStack } from '../../delivery/stack.ts';
import { createOurReplays } from '../our-replays.ts';

const responseMs = 100;
/** New events of each account. */
const perSecond = 20;

type Accounts = Record<'live' | 'others', LatencySummary>;

export function measureBeside({ quick, progress }: BenchOptions) {
  const [rounds, events, failures] = quick ? [1, 20, 1_000] : [5, 400, 100_000];
  return withStack(2, async (stack, defer) => {
    const { system, receiver } = stack;
    const replays = createOurReplays(system, defer);
    const [slowOrigin = '', otherOrigin = ''] = receiver.origins;
    const account = await system.addAccount([`${slowOrigin}/event/0/${responseMs}`]);
    await fillHistory(system.databaseUrl, failures, progress);
    const accounts = [account, await system.addAccount([`${otherOrigin}/event/1`])];
    const range = await replays.markFailed(account, { deliveries: failures, step: 1 });
    await system.startWorker();
    const measure = async (count: number): Promise<Accounts> => {
      const [live, others] = await measureLatencies(stack, accounts, { events: count, perSecond });
      if (live === undefined || others === undefined) throw new Error('There is no latency.');
      return { live, others };
    };
    // Compiles the code and opens the connections.
    await measure(quick ? 5 : 100);
    const measured: { alone: Accounts; beside: Accounts; replayedPerSecond: number }[] = [];
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
      progress(`Round ${round} of ${rounds}: ${Math.round(replayedPerSecond)} replayed per second`);
    }
    const medianOf = (value: (round: (typeof measured)[number]) => number): number => median(measured.map(value));
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
