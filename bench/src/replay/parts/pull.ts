import { median } from 'simple-statistics';
import { createBenchStore } from '../../bench-store.ts';
import type { Part } from '../../delivery/part.ts';
import { startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { createHistories } from '../histories.ts';
import { createPageReader, historyHours, type PageReader } from '../page-reader.ts';
import { pullMarkdown, type PullResult } from '../report.ts';

/** Milliseconds. */
interface Times {
  /** A page of 100 events with their bodies, after a cursor. */
  page: number[];
  /** To find where a list begins that starts at a time. */
  start: number[];
}

interface Size {
  storedDeliveries: number;
  reader: PageReader;
  /** Of the round. */
  times: Times;
  /** Medians of the rounds. */
  rounds: Times;
}

export const pull: Part<PullResult> = {
  summary:
    'the time of a page of `webhookEvents` with 10 thousand and with 1 million stored deliveries (--stored 5000000: 5)',

  async run({ quick, stored = quick ? 20_000 : 1_000_000, progress }) {
    const [rounds, starts, pagesPerStart] = quick ? [1, 20, 2] : [5, 20, 10];
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const options = { callbackUrl: 'https://receiver.example/hooks', progress };
      const sizes: Size[] = [];
      for (const history of await createHistories(postgres, defer, [10_000, stored], options)) {
        const store = createBenchStore(history.system.databaseUrl);
        defer(() => store.close());
        const reader = await createPageReader(store, history.account);
        const { storedDeliveries } = history;
        sizes.push({ storedDeliveries, reader, times: { page: [], start: [] }, rounds: { page: [], start: [] } });
      }
      for (let round = 0; round <= rounds; round += 1) {
        for (const size of sizes) size.times = { page: [], start: [] };
        // A single start takes about 2 ms, so the sizes take turns.
        for (let index = 0; index < starts; index += 1) {
          // Spread over the history, except its end.
          const hoursAgo = historyHours * (1 - (index + 0.5) / (starts + 3));
          for (const size of index % 2 === 0 ? sizes : sizes.toReversed())
            await readPages(size, hoursAgo, pagesPerStart);
        }
        // The first round compiles the code and plans the statements.
        if (round > 0)
          for (const size of sizes)
            for (const kind of ['page', 'start'] as const) size.rounds[kind].push(median(size.times[kind]));
        progress(`round ${round} of ${rounds}`);
      }
      const results = sizes.map(({ storedDeliveries, rounds: { page, start } }) => ({
        storedDeliveries,
        pageMs: median(page),
        startMs: median(start),
      }));
      const [smallest, largest] = [results.at(0), results.at(-1)];
      if (smallest === undefined || largest === undefined) throw new Error('There is no history.');
      return {
        rounds,
        pages: starts * pagesPerStart,
        sizes: results,
        pageGrowth: largest.pageMs / smallest.pageMs,
        startGrowth: largest.startMs / smallest.startMs,
      };
    });
  },

  markdown: pullMarkdown,
};

async function readPages({ reader, times }: Size, hoursAgo: number, pages: number): Promise<void> {
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
