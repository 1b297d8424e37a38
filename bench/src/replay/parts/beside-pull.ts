import { setTimeout as sleep } from 'node:timers/promises';
import type { PullPosition } from '@deedwire/actions/webhooks';
import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { type LatencySummary, measureLatencies, medianLatency } from '../../delivery/latency.ts';
import { fillHistory } from '../../delivery/ours/fill-history.ts';
import { withStack } from '../../delivery/stack.ts';
import { createPageReader, historyHours, type PageReader } from '../page-reader.ts';

export type BesidePullResult = Awaited<ReturnType<typeof measureBesidePull>>;

/** New events of each account. */
const perSecond = 20;
/** A bucket of the default size allows two or fewer pages of 100 events per second. */
const pagesPerSecond = 20;

export function measureBesidePull({ quick, progress }: BenchOptions) {
  const [rounds, events, stored] = quick ? [1, 20, 5_000] : [3, 400, 200_000];
  return withStack(2, async (stack, defer) => {
    const { system, receiver } = stack;
    const [origin = '', otherOrigin = ''] = receiver.origins;
    const account = await system.addAccount([`${origin}/probe`]);
    const accounts = [account, await system.addAccount([`${otherOrigin}/probe`])];
    await fillHistory(system.databaseUrl, stored, progress);
    await system.startWorker();
    const measure = (count: number): Promise<LatencySummary[]> =>
      measureLatencies(stack, accounts, { events: count, perSecond });
    // Compiles the code and opens the connections.
    await measure(quick ? 5 : 100);
    const measured: { alone: LatencySummary[]; beside: LatencySummary[] }[] = [];
    const reader = await createPageReader(system.databaseUrl, account, defer);
    for (let round = 1; round <= rounds; round += 1) {
      const alone = await measure(events);
      const stopReading = startReading(reader);
      const beside = await measure(events);
      if ((await stopReading()) === 0) throw new Error('No page was read.');
      measured.push({ alone, beside });
      progress(`Round ${round} of ${rounds}`);
    }
    const summaries = ['of the account', 'of another account'].map((name, index) => {
      const [alone, beside] = [
        measured.flatMap((each) => each.alone[index] ?? []),
        measured.flatMap((each) => each.beside[index] ?? []),
      ];
      return {
        name,
        alone: medianLatency(alone),
        beside: medianLatency(beside),
        p99Ratio: median(beside.map(({ p99Ms }, round) => p99Ms / (alone[round]?.p99Ms ?? Number.NaN))),
      };
    });
    return { rounds, stored, pagesPerSecond, summaries };
  });
}

/** Reads the history again and again, at a steady rate. Returns what ends it, which returns the number of pages. */
function startReading(reader: PageReader): () => Promise<number> {
  let isStopped = false;
  let pages = 0;
  const reading = (async () => {
    let position: PullPosition | null = null;
    while (!isStopped) {
      const startMs = performance.now();
      position ??= (await reader.start(historyHours)).position;
      ({ next: position } = await reader.page(position));
      pages += 1;
      await sleep(Math.max(0, 1000 / pagesPerSecond - (performance.now() - startMs)));
    }
  })();
  return async () => {
    isStopped = true;
    await reading;
    return pages;
  };
}
