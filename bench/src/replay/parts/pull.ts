import {
  findFirstNumbered,
  type PullPosition,
  readNumberedPage,
  selectEventBodies,
  selectPulledSubscription,
} from '@deedwire/actions/webhooks';
import { type AccountId, idAt, type RecordId, toRecordId } from '@deedwire/core';
import { onlyRow, type Store } from '@deedwire/store';
import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { createBenchStore, startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { createHistories } from '../our-replays.ts';

const pageSize = 100;
/** Pages read no delivery that is more than a day older than its subscription. */
const historyHours = 20;

/** Milliseconds. */
interface Times {
  /** A page of 100 events with their bodies, after a cursor. */
  page: number[];
  /** To find where a list begins that starts at a time. */
  start: number[];
}

const emptyTimes = (): Times => ({ page: [], start: [] });

export function measurePull({ quick, stored = quick ? 20_000 : 1_000_000, progress }: BenchOptions) {
  const [rounds, starts, pagesPerStart] = quick ? [1, 20, 2] : [5, 20, 10];
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres(defer);
    const options = { callbackUrl: 'https://receiver.example/hooks', progress };
    const histories = await createHistories(postgres, defer, [10_000, stored], options);
    const sizes = histories.map(({ storedDeliveries, system, account }) => {
      const store = createBenchStore(system.databaseUrl);
      defer(() => store.close());
      return { storedDeliveries, store, account, rounds: emptyTimes() };
    });
    for (let round = 0; round <= rounds; round += 1) {
      const ofRound = sizes.map((size) => ({ ...size, times: emptyTimes() }));
      // A single start takes about 2 ms, so the sizes take turns.
      for (let index = 0; index < starts; index += 1) {
        // Spread over the history, except its end.
        const hoursAgo = historyHours * (1 - (index + 0.5) / (starts + 3));
        for (const { store, account, times } of index % 2 === 0 ? ofRound : ofRound.toReversed())
          await readPages(store, account, times, hoursAgo, pagesPerStart);
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

/** Reads the events of an account with one subscription from a time on, by the statements of `webhookEvents`. */
async function readPages(
  store: Store,
  account: AccountId,
  times: Times,
  hoursAgo: number,
  pages: number,
): Promise<void> {
  const text = 'select id from webhook_subscription where account_id = $1';
  const { id } = onlyRow(await store.query<{ id: string }>({ name: 'bench-subscription-of', text }, [account]));
  const subscriptionId: RecordId<'WebhookSubscription'> = toRecordId(id);
  const open = async () => {
    const subscription = await selectPulledSubscription(store, account, subscriptionId, 'PUSH');
    if (subscription === null) throw new Error('There is no subscription.');
    return subscription;
  };
  const subscription = await open();
  const fromId = BigInt(idAt(new Date(Math.floor(subscription.now.getTime() - hoursAgo * 3_600_000))));
  let startMs = performance.now();
  const first = await findFirstNumbered(store, subscription, fromId);
  times.start.push(performance.now() - startMs);
  if (first?.isProven !== true) throw new Error('The beginning is not proven.');
  let position: PullPosition = { sequence: first.sequence - 1, fromId };
  for (let page = 0; page < pages; page += 1) {
    startMs = performance.now();
    const opened = await open();
    const { rows } = await readNumberedPage(store, opened, position, pageSize);
    const { bodies, isMissing } = await selectEventBodies(store, rows, opened.expiredBefore);
    times.page.push(performance.now() - startMs);
    if (isMissing || bodies.length < rows.length) throw new Error('The page is not whole.');
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) throw new Error('The history is too short.');
    position = { sequence: last.sequence, fromId: BigInt(last.id) };
  }
}
