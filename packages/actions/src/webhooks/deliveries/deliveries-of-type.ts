import type { Database, PageQuery } from '@deedwire/store';
import type { DeliveryId } from '@deedwire/webhooks/tables';
import { collectPage, type DeliveryFilter, openList } from './deliveries.ts';
import { selectDeliveryIds, selectEventTypes, type TypedIdRow } from './delivery-ids.ts';
import { type FoundIds, type FoundPage, mergeIds, type ReadIds, reportFurther } from './pages.ts';

// No index lists deliveries by type: it would cost 2 µs for each delivery.
const readMax = 5_000;

// Each row costs up to one buffer, and each subscription three for each day.
const rowsPerStatement = 250;

// As many types as a statement reads where the index does not have them.
const rowsPerBatch = 100;

/** How much a search reads. */
export interface SearchEvents {
  /** Called with the number of deliveries of any type that were searched, for each batch. */
  onSearched?: ((deliveries: number) => void) | undefined;
  /** Called for each part of the history that is read because those before it did not fill the page. */
  onFurtherPart?: (() => void) | undefined;
}

/**
 * Returns deliveries of one event type, newest first. Reads at most 5,000 deliveries of any type, so the page can be short.
 * Each statement reads a bounded number of rows and partitions.
 */
export async function selectDeliveriesOfType(
  database: Database,
  filter: DeliveryFilter,
  eventType: string,
  { afterId, limit }: PageQuery<'WebhookDelivery'>,
  { onSearched, onFurtherPart = () => {} }: SearchEvents = {},
): Promise<FoundPage> {
  const { index, ranges, subscriptionIds } = await openList(database, filter, afterId);
  return collectPage(database, filter, limit, search());

  async function* search(): AsyncGenerator<FoundIds> {
    let read = 0;
    let batch: TypedIdRow[] = [];
    for (const range of reportFurther(ranges, onFurtherPart)) {
      const source: ReadIds<TypedIdRow> = (...query) => selectDeliveryIds(database, index, ...query, true);
      for await (const row of mergeIds(source, subscriptionIds, range, rowsPerStatement)) {
        batch.push(row);
        read += 1;
        if (batch.length < rowsPerBatch && read < readMax) continue;
        yield { ids: await idsOfType(batch), readTo: read < readMax ? null : row.id };
        batch = [];
      }
    }
    yield { ids: await idsOfType(batch), readTo: null };
  }

  async function idsOfType(batch: readonly TypedIdRow[]): Promise<DeliveryId[]> {
    onSearched?.(batch.length);
    const untyped = batch.filter((row) => row.eventType === null).map(({ id }) => id);
    const types = await selectEventTypes(database, untyped);
    return batch.filter((row) => (row.eventType ?? types.get(row.id)) === eventType).map(({ id }) => id);
  }
}
