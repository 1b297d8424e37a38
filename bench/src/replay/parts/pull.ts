import { type AccountId, idAt, toRecordId } from '@deedwire/domain';
import { onlyRow, type Store } from '@deedwire/store';
import {
  findFirstNumbered,
  type PullPosition,
  readNumberedPage,
  selectEventBodies,
  selectPulledSubscription,
} from '@deedwire/webhooks/pull';
import { createBenchStore } from '../../bench-store.ts';
import { fillHistory } from '../../delivery/ours/fill-history.ts';
import { createOurSystem } from '../../delivery/ours/our-system.ts';
import type { Part } from '../../delivery/part.ts';
import { median } from '../../median.ts';
import { startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { pullMarkdown, type PullResult } from '../report.ts';

const pageSize = 100;
const pagesPerStart = 10;
const spreadMs = 20 * 3_600_000;

/** Milliseconds. */
interface Times {
  /** A page of 100 events with their bodies, after a cursor. */
  page: number[];
  /** To find where a list begins that starts at a time. */
  start: number[];
}

interface Size {
  storedDeliveries: number;
  store: Store;
  account: AccountId;
  times: Times;
}

export const pull: Part<PullResult> = {
  summary:
    'the time of a page of `webhookEvents` with 10 thousand and with 1 million stored deliveries (--stored 5000000: 5)',

  async run({ quick, stored = quick ? 20_000 : 1_000_000, progress }) {
    const [rounds, starts] = quick ? [1, 2] : [5, 20];
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const sizes: Size[] = [];
      for (const storedDeliveries of [10_000, stored]) {
        const system = await createOurSystem(await postgres.createDatabase(`pull_${sizes.length + 1}`));
        defer(() => system.close());
        const store = createBenchStore(system.databaseUrl);
        defer(() => store.close());
        const [account] = await system.addAccounts([['https://receiver.example/hooks']]);
        if (account === undefined) throw new Error('There is no account.');
        await fillHistory(system.databaseUrl, storedDeliveries, (count) =>
          progress(`Stored ${count.toLocaleString('en-US')} of ${storedDeliveries.toLocaleString('en-US')} deliveries`),
        );
        sizes.push({ storedDeliveries, store, account, times: { page: [], start: [] } });
      }
      for (let round = 0; round <= rounds; round += 1) {
        for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
          const times = await readPages(size, starts);
          // The first round compiles the code and plans the statements.
          if (round > 0) for (const kind of ['page', 'start'] as const) size.times[kind].push(median(times[kind]));
        }
        progress(`round ${round} of ${rounds}`);
      }
      const results = sizes.map(({ storedDeliveries, times }) => ({
        storedDeliveries,
        pageMs: median(times.page),
        startMs: median(times.start),
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

/** Reads pages from several times on, spread over the history. */
async function readPages({ store, account }: Size, starts: number): Promise<Times> {
  const text = 'select id from webhook_subscription where account_id = $1';
  const { id } = onlyRow(await store.query<{ id: string }>({ name: 'bench-subscription-of', text }, [account]));
  const times: Times = { page: [], start: [] };
  for (let index = 0; index < starts; index += 1) {
    const subscription = await selectPulledSubscription(store, account, toRecordId(id), 'PUSH');
    if (subscription === null) throw new Error('There is no subscription.');
    // Pages read no delivery that is more than a day older than its subscription, and the sequence counts one more than there are.
    const timeMs = subscription.now.getTime() - spreadMs * (1 - (index + 0.5) / (starts + 3));
    const fromId = BigInt(idAt(new Date(Math.floor(timeMs))));
    let beganMs = performance.now();
    const first = await findFirstNumbered(store, subscription, fromId);
    times.start.push(performance.now() - beganMs);
    if (first?.isProven !== true) throw new Error('The beginning is not proven.');
    let position: PullPosition = { sequence: first.sequence - 1, fromId };
    for (let page = 0; page < pagesPerStart; page += 1) {
      beganMs = performance.now();
      const current = await selectPulledSubscription(store, account, subscription.id, 'PUSH');
      if (current === null) throw new Error('There is no subscription.');
      const { rows, end } = await readNumberedPage(store, current, position, pageSize);
      const { bodies } = await selectEventBodies(store, rows, current.expiredBefore);
      times.page.push(performance.now() - beganMs);
      const last = rows.at(-1);
      if (end !== 'full' || bodies.length !== pageSize || last === undefined) throw new Error(`The page is ${end}.`);
      position = { sequence: last.sequence, fromId: BigInt(last.id) };
    }
  }
  return times;
}
