import type { SubscriptionId, IdRange } from '@deedwire/webhooks/tables';
import type { TypedIdRow } from './delivery-ids.ts';
import type { ListPosition } from './pages.ts';

/** Reads the newest rows before each position, at most `limit` per subscription. */
export type ReadTypedIds = (
  positions: readonly ListPosition[],
  range: IdRange,
  limit: number,
) => Promise<readonly TypedIdRow[]>;

interface ReadRow {
  /** To compare: the text of an id is not in the order of ids. */
  id: bigint;
  row: TypedIdRow;
}

/** What has been read of a subscription and not been returned yet. */
interface OpenSubscription extends ListPosition {
  /** Oldest first, so that the newest is taken from the end. */
  rows: ReadRow[];
  isComplete: boolean;
}

/**
 * Merges the deliveries of several subscriptions within a range, newest first. Keeps what it has read, so that a statement
 * reads only the subscriptions of which nothing is left.
 *
 * @param rowsPerStatement how many rows a statement reads of all subscriptions together
 */
export async function* mergeTypedIds(
  read: ReadTypedIds,
  subscriptionIds: readonly SubscriptionId[],
  range: IdRange,
  rowsPerStatement: number,
): AsyncGenerator<TypedIdRow> {
  let open = subscriptionIds.map((subscriptionId): OpenSubscription => ({
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

  async function refill(empty: readonly OpenSubscription[]): Promise<void> {
    const share = Math.max(1, Math.floor(rowsPerStatement / empty.length));
    const rowsOf = Map.groupBy(await read(empty, range, share), ({ subscriptionId }) => subscriptionId);
    for (const one of empty) {
      const rows = (rowsOf.get(one.subscriptionId) ?? []).map((row): ReadRow => ({ id: BigInt(row.id), row }));
      rows.sort((a, b) => (a.id < b.id ? -1 : 1));
      one.isComplete = rows.length < share;
      one.before = rows[0]?.id ?? one.before;
      // A delivery with two successful attempts is in the index twice.
      one.rows = rows.filter(({ id }, index) => id !== rows[index + 1]?.id);
    }
  }
}
