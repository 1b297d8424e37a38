import type { DeliveryId } from '../kernel/ids.ts';
import type { DeliveryRow, DeliveryStatus } from './delivery-row.ts';
import type { IdRange } from './id-range.ts';

export interface PageSource {
  /** Newest first. They are read one after the other until the page is full. */
  ranges: Iterable<IdRange>;
  /** Returns the newest ids of a range, newest first: `wanted` ids, or fewer if the range contains no others. */
  readIds(range: IdRange, wanted: number): Promise<DeliveryId[]>;
  /** Returns the deliveries with these ids that belong in the list, newest first. */
  load(ids: readonly DeliveryId[]): Promise<DeliveryRow[]>;
}

/**
 * Reads a page of at most `limit` deliveries.
 *
 * @param status skips deliveries whose status has changed since their id was read. Null for any status.
 */
export async function collectPage(
  source: PageSource,
  status: DeliveryStatus | null,
  limit: number,
): Promise<DeliveryRow[]> {
  const rows: DeliveryRow[] = [];
  for (const { min, before } of source.ranges) {
    for (let end: bigint | null = before; end !== null && rows.length < limit;) {
      const ids: DeliveryId[] = await source.readIds({ min, before: end }, limit);
      const loaded = ids.length === 0 ? [] : await source.load(ids);
      rows.push(...loaded.filter((row) => status === null || row.status === status));
      const last: DeliveryId | undefined = ids[limit - 1];
      end = last === undefined ? null : BigInt(last);
    }
    if (rows.length >= limit) break;
  }
  return rows.slice(0, limit);
}
