import type { Database, PageQuery } from '@deedwire/store';
import type { DeliveryId } from '../kernel/ids.ts';
import { type DeliveryFilter, openList, selectDeliveriesById } from './deliveries.ts';
import { type DeliveryIndex, selectEventTypes, selectTypedIds } from './delivery-ids.ts';
import type { DeliveryRow } from './delivery-row.ts';
import { newestIds } from './pages.ts';

/** A page of deliveries of one event type. */
export interface TypedPage {
  /** At most as many as the page has, newest first. */
  rows: DeliveryRow[];
  /** The oldest delivery that was read, if the search ended before the page was full and can continue. Otherwise null. */
  readTo: DeliveryId | null;
}

// No index lists deliveries by type: it would cost 2 µs for each delivery.
const readMax = 5_000;

// Each delivery costs up to one buffer where the type is in the table that lists it, and otherwise up to four.
const idsPerStatement: Record<DeliveryIndex, number> = { every: 200, pending: 200, successful: 100, failed: 100 };

/**
 * Returns deliveries of one event type, newest first. Reads at most 5,000 deliveries of any type, so the page can be short.
 * Each statement reads a bounded number of rows and partitions.
 */
export async function selectDeliveriesOfType(
  database: Database,
  filter: DeliveryFilter,
  eventType: string,
  page: PageQuery<'WebhookDelivery'>,
): Promise<TypedPage> {
  const { index, ranges, subscriptionIds } = await openList(database, filter, page.afterId);
  const rows: DeliveryRow[] = [];
  let [read, readTo]: [number, DeliveryId | null] = [0, null];
  for (const { min, before } of ranges) {
    for (let end: bigint | null = before; end !== null && rows.length < page.limit;) {
      if (read >= readMax) return { rows, readTo };
      const wanted = Math.min(idsPerStatement[index], readMax - read);
      const types = new Map<DeliveryId, string>();
      const ids: DeliveryId[] = await newestIds(
        async (...query) => {
          const found = await selectTypedIds(database, index, ...query);
          for (const { id, eventType: type } of found) if (type !== null) types.set(id, type);
          return found;
        },
        subscriptionIds,
        { min, before: end },
        wanted,
      );
      const unknown = ids.filter((id) => !types.has(id));
      for (const [id, type] of await selectEventTypes(database, unknown)) types.set(id, type);
      await load(ids.filter((id) => types.get(id) === eventType));
      read += ids.length;
      readTo = ids.at(-1) ?? readTo;
      const last: DeliveryId | undefined = ids[wanted - 1];
      end = last === undefined ? null : BigInt(last);
    }
    if (rows.length >= page.limit) break;
  }
  return { rows, readTo: null };

  /** Loads no more than the page needs, although a delivery whose status has changed is not in it. */
  async function load(ids: readonly DeliveryId[]): Promise<void> {
    for (let start = 0; start < ids.length && rows.length < page.limit;) {
      const group = ids.slice(start, start + page.limit - rows.length);
      start += group.length;
      const loaded = await selectDeliveriesById(database, filter.accountId, group);
      rows.push(...loaded.filter(({ status }) => filter.status === null || filter.status === status));
    }
  }
}
