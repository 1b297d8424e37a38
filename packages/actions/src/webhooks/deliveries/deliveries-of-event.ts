import { type AccountId, type RecordId, timeOf } from '@deedwire/core';
import { type Database, firstRow, type PageQuery, sql } from '@deedwire/store';
import { clockStep, type EventId } from '@deedwire/webhooks/tables';
import { selectDeliveriesOfRecord } from './deliveries-of-record.ts';
import type { DeliveryFilter } from './deliveries.ts';
import type { FoundPage } from './pages.ts';
import { type EventFilter, type SearchEvents, selectSearchedDeliveries } from './searched-deliveries.ts';

/**
 * Returns the deliveries of an event, newest first: by the index of the record that the event is about, otherwise by a search of all
 * deliveries since the event. Both read a bounded number of deliveries, so the page can be short.
 */
export async function selectDeliveriesOfEvent(
  database: Database,
  filter: DeliveryFilter,
  events: EventFilter & { eventId: EventId },
  page: PageQuery<'WebhookDelivery'>,
  searching: SearchEvents = {},
): Promise<FoundPage> {
  const { eventId } = events;
  const event = await selectEvent(database, filter.accountId, events);
  if (event === null) return { rows: [], readTo: null };
  const { recordId, type } = event;
  if (recordId !== null) {
    const ofRecord = { recordId, isDrawn: false, eventTypes: [type], eventId };
    return selectDeliveriesOfRecord(database, filter, ofRecord, page, searching.onFurtherPart);
  }
  const createdAt = timeOf(eventId);
  const { since = null } = filter;
  const sinceEvent = since !== null && since > createdAt ? since : createdAt;
  return selectSearchedDeliveries(database, { ...filter, since: sinceEvent }, events, page, searching);
}

/** A type alias, because rows need an index signature. */
type EventRow = { type: string; recordId: RecordId<string> } | { type: string | null; recordId: null };

/**
 * Returns null if the account has no such event. One of which nothing is kept can have been any: events are dropped a day after they have
 * expired, and deliveries later.
 *
 * Served by the primary key of a partition of webhook_event.
 */
async function selectEvent(
  database: Database,
  accountId: AccountId | null,
  { eventId, eventType }: EventFilter,
): Promise<EventRow | null> {
  const statement = sql('select-event', 'for-values')`
      select e.event_type as type, e.record_id as "recordId"
      from webhook_retention r
      left join lateral (
        select id, event_type, record_id
        from webhook_event
        where id = $1::bigint and ($2::bigint is null or account_id = $2) and ($3::text is null or event_type = $3)
        limit 1
      ) e on true
      where e.id is not null or $1::bigint < r.expired_before - $4::bigint`;
  return firstRow(await database.query<EventRow>(statement, [eventId, accountId, eventType, clockStep]));
}
