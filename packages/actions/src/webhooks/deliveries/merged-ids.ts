import type { DeliveryId, IdRange, SubscriptionId } from '@deedwire/webhooks/tables';
import type { DeliveryIdRow, ListPosition } from './pages.ts';

/** Reads the newest rows before each position, at most `limit` per subscription. */
export type ReadIds<Row extends DeliveryIdRow> = (
  positions: readonly ListPosition[],
  range: IdRange,
  limit: number,
) => Promise<readonly Row[]>;

interface ReadRow<Row> {
  /** To compare: the text of an id is not in the order of ids. */
  id: bigint;
  row: Row;
}

/** What has been read of a subscription and not been returned yet. */
interface OpenSubscription<Row> extends ListPosition {
  /** Oldest first, so that the newest is taken from the end. */
  rows: ReadRow<Row>[];
  isComplete: boolean;
}

/**
 * Merges the deliveries of several subscriptions within a range, newest first. Keeps what it has read, so that a statement
 * reads only the subscriptions of which nothing is left.
 *
 * @param rowsPerStatement how many rows a statement reads of all subscriptions together
 */
export async function* mergeIds<Row extends DeliveryIdRow>(
  read: ReadIds<Row>,
  subscriptionIds: readonly SubscriptionId[],
  range: IdRange,
  rowsPerStatement: number,
): AsyncGenerator<Row> {
  let open = subscriptionIds.map((subscriptionId): OpenSubscription<Row> => ({
    subscriptionId,
    before: range.before,
    rows: [],
    isComplete: false,
  }));
  while (open.length > 0) {
    const empty = open.filter(({ rows }) => rows.length === 0);
    if (empty.length > 0) {
      await refill(empty);
      open = open.filter(({ rows }) => rows.length > 0);
    }
    let [newest, newestId] = [open[0], 0n];
    for (const one of open) {
      const { id = 0n } = one.rows.at(-1) ?? {};
      if (id > newestId) [newest, newestId] = [one, id];
    }
    const next = newest?.rows.pop();
    if (next !== undefined) yield next.row;
    if (newest?.isComplete === true && newest.rows.length === 0) open = open.filter((one) => one !== newest);
  }

  async function refill(empty: readonly OpenSubscription<Row>[]): Promise<void> {
    const share = Math.max(1, Math.floor(rowsPerStatement / empty.length));
    const rowsOf = Map.groupBy(await read(empty, range, share), ({ subscriptionId }) => subscriptionId);
    for (const one of empty) {
      const rows = (rowsOf.get(one.subscriptionId) ?? []).map((row): ReadRow<Row> => ({ id: BigInt(row.id), row }));
      rows.sort((a, b) => (a.id < b.id ? -1 : 1));
      one.isComplete = rows.length < share;
      one.before = rows[0]?.id ?? one.before;
      // A delivery with two successful attempts is in the index twice.
      one.rows = rows.filter(({ id }, index) => id !== rows[index + 1]?.id);
    }
  }
}

/** At most `wanted` ids of a range, newest first. Fewer if it contains no others. */
export async function newestIds(
  read: ReadIds<DeliveryIdRow>,
  subscriptionIds: readonly SubscriptionId[],
  range: IdRange,
  wanted: number,
): Promise<DeliveryId[]> {
  const ids: DeliveryId[] = [];
  for await (const { id } of mergeIds(read, subscriptionIds, range, wanted)) if (ids.push(id) === wanted) break;
  return ids;
}
