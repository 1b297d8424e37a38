import type { AccountId } from '@deedwire/core';
import type { Database, PageQuery } from '@deedwire/store';
import { type SubscriptionId, type IdRange, splitByDays } from '@deedwire/webhooks/tables';
import { daysPerPart, selectDeliveriesById } from './deliveries.ts';
import { indexOf, type ListedSubscriptions, selectDeliveryIds, selectListedSubscriptions } from './delivery-ids.ts';
import { type DeliveryRow, type DeliveryStatus, listedRange } from './pages.ts';

/** A page of the deliveries to one subscription. */
export interface SubscriptionPage extends PageQuery<'WebhookDelivery'> {
  subscriptionId: SubscriptionId;
  /** Null for any status. */
  status: DeliveryStatus | null;
}

/** A page that is being read. */
interface OpenPage {
  subscriptionId: SubscriptionId;
  /** Only smaller ids are left to read. */
  before: bigint;
  /** At most `limit` of them, newest first. */
  rows: DeliveryRow[];
}

// Each id costs up to one buffer.
const idsPerStatement = 250;

/**
 * Returns pages of the deliveries to several subscriptions of an account, in the order of `pages`. Pages with the same status and
 * limit share statements, each of which reads a bounded number of rows and partitions. A subscription of another account, or
 * one that is deleted, has no deliveries.
 *
 * @param onFurtherPart called for each statement that reads a part of the history because those before it did not fill its pages
 */
export async function selectDeliveriesOfEach(
  database: Database,
  accountId: AccountId,
  pages: readonly SubscriptionPage[],
  onFurtherPart: () => void = () => {},
): Promise<DeliveryRow[][]> {
  const listed = await selectListedSubscriptions(database, { accountId, subscriptionId: null });
  const known = new Set(listed.subscriptionIds);
  const results = pages.map((): DeliveryRow[] => []);
  const groups = Map.groupBy(pages.keys(), (index) => `${pages[index]?.status} ${pages[index]?.limit}`);
  for (const indexes of groups.values()) {
    const [first = 0] = indexes;
    const { status = null, limit = 0 } = pages[first] ?? {};
    const open = indexes.flatMap((index): OpenPage[] => {
      const [page, rows] = [pages[index], results[index]];
      if (page === undefined || rows === undefined || !known.has(page.subscriptionId)) return [];
      const { before } = listedRange(listed, status, page.afterId);
      return [{ subscriptionId: page.subscriptionId, before, rows }];
    });
    await readPages(database, accountId, listed, { status, limit }, open, onFurtherPart);
  }
  return results;
}

/** Reads pages with the same status and limit. */
async function readPages(
  database: Database,
  accountId: AccountId,
  listed: ListedSubscriptions,
  { status, limit }: { status: DeliveryStatus | null; limit: number },
  pages: readonly OpenPage[],
  onFurtherPart: () => void,
): Promise<void> {
  const index = indexOf(status);
  const range = listedRange(listed, status, null);
  const isPartitioned = index === 'every' || index === 'successful';
  const parts = isPartitioned ? splitByDays(range, daysPerPart(pages.length)) : [range];
  let isFirst = true;
  for (const part of parts) {
    let open = pages.filter(({ rows }) => rows.length < limit);
    if (open.length === 0) return;
    while (open.length > 0) {
      const unread: OpenPage[] = [];
      for (const batch of batchesOf(open, Math.max(1, Math.floor(idsPerStatement / limit)))) {
        if (!isFirst) onFurtherPart();
        unread.push(...(await readBatch(part, batch)));
      }
      open = unread;
    }
    isFirst = false;
  }

  /** Returns the pages that are not full and can have more rows in this part. */
  async function readBatch(part: IdRange, batch: readonly OpenPage[]): Promise<OpenPage[]> {
    const found = await selectDeliveryIds(database, index, batch, part, limit);
    const ids = [...new Set(found.map(({ id }) => id))].toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
    const loaded = await selectDeliveriesById(database, accountId, ids);
    const rowsOf = Map.groupBy(
      loaded.filter((row) => status === null || row.status === status),
      ({ subscriptionId }) => subscriptionId,
    );
    const foundOf = Map.groupBy(found, ({ subscriptionId }) => subscriptionId);
    return batch.filter((page) => {
      const own = foundOf.get(page.subscriptionId) ?? [];
      page.rows.push(...(rowsOf.get(page.subscriptionId) ?? []).slice(0, limit - page.rows.length));
      for (const { id } of own) if (BigInt(id) < page.before) page.before = BigInt(id);
      return own.length === limit && page.rows.length < limit;
    });
  }
}

/** Divides pages into batches of at most `size`. Two pages of one subscription are in different batches. */
function batchesOf(pages: readonly OpenPage[], size: number): OpenPage[][] {
  const batches: OpenPage[][] = [];
  for (const page of pages) {
    const batch = batches.find(
      (one) => one.length < size && one.every(({ subscriptionId }) => subscriptionId !== page.subscriptionId),
    );
    if (batch) batch.push(page);
    else batches.push([page]);
  }
  return batches;
}
