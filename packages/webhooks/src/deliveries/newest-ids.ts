import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import type { IdRange } from './id-range.ts';
import type { DeliveryIdRow, ListPosition } from './select-delivery-ids.ts';

/** Reads the newest ids before each position, at most `limit` per subscription. */
export type ReadIds = (
  positions: readonly ListPosition[],
  range: IdRange,
  limit: number,
) => Promise<readonly DeliveryIdRow[]>;

/**
 * Merges the newest ids of several subscriptions within a range.
 *
 * It reads an equal share of each subscription, then continues with the subscriptions that can still have ids among the
 * newest. So it reads about `wanted` ids of one busy subscription, and few of the others.
 *
 * @returns at most `wanted` ids, newest first. Fewer if the range contains no others.
 */
export async function newestIds(
  read: ReadIds,
  subscriptionIds: readonly SubscriptionId[],
  range: IdRange,
  wanted: number,
): Promise<DeliveryId[]> {
  const known = new Set<DeliveryId>();
  let positions: ListPosition[] = subscriptionIds.map((subscriptionId) => ({ subscriptionId, before: range.before }));
  while (positions.length > 0) {
    const share = Math.ceil(wanted / positions.length);
    const rows = await read(positions, range, share);
    for (const { id } of rows) known.add(id);
    const oldestWanted = newestFirst(known)[wanted - 1];
    const bySubscription = Map.groupBy(rows, ({ subscriptionId }) => subscriptionId);
    positions = [...bySubscription]
      .filter(([, found]) => found.length === share)
      .map(([subscriptionId, found]) => ({ subscriptionId, before: smallest(found) }))
      .filter(({ before }) => oldestWanted === undefined || before > BigInt(oldestWanted));
  }
  return newestFirst(known).slice(0, wanted);
}

function newestFirst(ids: Iterable<DeliveryId>): DeliveryId[] {
  return [...ids].toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
}

function smallest(rows: readonly DeliveryIdRow[]): bigint {
  return rows.map(({ id }) => BigInt(id)).reduce((a, b) => (a < b ? a : b));
}
