import type { Database, PageQuery } from '@deedwire/store';
import type { DeliveryId, EventId } from '@deedwire/webhooks/tables';
import { collectPage, type DeliveryFilter, openList } from './deliveries.ts';
import { type EventIdRow, type EventOfDelivery, selectDeliveredEvents, selectDeliveryIds } from './delivery-ids.ts';
import { type FoundIds, type FoundPage, mergeIds, type ReadIds, reportFurther } from './pages.ts';

// No index lists deliveries by type or event: it would cost 2 µs for each delivery.
const readMax = 5_000;

// Each row costs up to one buffer, and each subscription three for each day.
const rowsPerStatement = 250;

// As many events as a statement reads where the index does not have them.
const rowsPerBatch = 100;

/** How much a search reads. */
export interface SearchEvents {
  /** Called with the number of deliveries of any type that were searched, for each batch. */
  onSearched?: ((deliveries: number) => void) | undefined;
  /** Called for each part of the history that is read because those before it did not fill the page. */
  onFurtherPart?: (() => void) | undefined;
}

/** Which events have the deliveries. Null does not restrict them. */
export interface EventFilter {
  eventType: string | null;
  eventId: EventId | null;
}

/**
 * Returns deliveries of one event type, of one event, or both, newest first. Reads at most 5,000 deliveries of any event, so the page
 * can be short. Each statement reads a bounded number of rows and partitions.
 */
export async function selectSearchedDeliveries(
  database: Database,
  filter: DeliveryFilter,
  { eventType, eventId }: EventFilter,
  { afterId, limit }: PageQuery<'WebhookDelivery'>,
  { onSearched, onFurtherPart = () => {} }: SearchEvents = {},
): Promise<FoundPage> {
  const { index, ranges, subscriptionIds } = await openList(database, filter, afterId);
  return collectPage(database, filter, limit, search());

  async function* search(): AsyncGenerator<FoundIds> {
    let read = 0;
    let batch: EventIdRow[] = [];
    for (const range of reportFurther(ranges, onFurtherPart)) {
      const source: ReadIds<EventIdRow> = (...query) => selectDeliveryIds(database, index, ...query, true);
      for await (const row of mergeIds(source, subscriptionIds, range, rowsPerStatement)) {
        batch.push(row);
        read += 1;
        if (batch.length < rowsPerBatch && read < readMax) continue;
        yield { ids: await idsOfEvents(batch), readTo: read < readMax ? null : row.id };
        batch = [];
      }
    }
    yield { ids: await idsOfEvents(batch), readTo: null };
  }

  async function idsOfEvents(batch: readonly EventIdRow[]): Promise<DeliveryId[]> {
    onSearched?.(batch.length);
    const unread = batch.filter((row) => row.eventId === null).map(({ id }) => id);
    const events = await selectDeliveredEvents(database, unread);
    return batch.filter((row) => isSearched(events.get(row.id) ?? row)).map(({ id }) => id);
  }

  function isSearched(event: EventOfDelivery): boolean {
    return (eventType === null || event.eventType === eventType) && (eventId === null || event.eventId === eventId);
  }
}
