import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { createHistories } from '../our-replays.ts';
import { createPageReader, historyHours, type PageReader } from '../page-reader.ts';

export type PullResult = Awaited<ReturnType<typeof measurePull>>;

/** Milliseconds. */
interface Times {
  /** A page of 100 events with their bodies, after a cursor. */
  page: number[];
  /** To find where a list begins that starts at a time. */
  start: number[];
}

export function measurePull({ quick, stored = quick ? 20_000 : 1_000_000, progress }: BenchOptions) {
  const [rounds, starts, pagesPerStart] = quick ? [1, 20, 2] : [5, 20, 10];
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres(defer);
    const options = { callbackUrl: 'https://receiver.example/hooks', progress };
    const sizes: { storedDeliveries: number; reader: PageReader; rounds: Times }[] = [];
    for (const { storedDeliveries, system, account } of await createHistories(
      postgres,
      defer,
      [10_000, stored],
      options,
    )) {
      const reader = await createPageReader(system.databaseUrl, account, defer);
      sizes.push({ storedDeliveries, reader, rounds: { page: [], start: [] } });
    }
    for (let round = 0; round <= rounds; round += 1) {
      const ofRound = sizes.map((size) => ({ ...size, times: { page: [], start: [] } as Times }));
      // A single start takes about 2 ms, so the sizes take turns.
      for (let index = 0; index < starts; index += 1) {
        // Spread over the history, except its end.
        const hoursAgo = historyHours * (1 - (index + 0.5) / (starts + 3));
        for (const { reader, times } of index % 2 === 0 ? ofRound : ofRound.toReversed())
          await readPages(reader, times, hoursAgo, pagesPerStart);
      }
      // The first round compiles the code and plans the statements.
      if (round > 0)
        for (const { rounds: medians, times } of ofRound)
          for (const kind of ['page', 'start'] as const) medians[kind].push(median(times[kind]));
      progress(`round ${round} of ${rounds}`);
    }
    const results = sizes.map(({ storedDeliveries, rounds: { page, start } }) => ({
      storedDeliveries,
      pageMs: median(page),
      startMs: median(start),
    }));
    const growth = (of: 'pageMs' | 'startMs'): number =>
      (results.at(-1)?.[of] ?? Number.NaN) / (results.at(0)?.[of] ?? Number.NaN);
    const pages = starts * pagesPerStart;
    return { rounds, pages, sizes: results, pageGrowth: growth('pageMs'), startGrowth: growth('startMs') };
  });
}

async function readPages(reader: PageReader, times: Times, hoursAgo: number, pages: number): Promise<void> {
  const start = await reader.start(hoursAgo);
  times.start.push(start.ms);
  let { position } = start;
  for (let page = 0; page < pages; page += 1) {
    const { next, ms } = await reader.page(position);
    times.page.push(ms);
    if (next === null) throw new Error('The history is too short.');
    position = next;
  }
}
