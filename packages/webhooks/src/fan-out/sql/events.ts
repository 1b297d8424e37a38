import { type InterfaceName, toRecordId } from '@deedwire/core';
import { type Database, onlyRow, ShortLivedMap, sql } from '@deedwire/store';
import type { EventId } from '../../kernel/ids.ts';
import { originOf } from '../../kernel/pending-delivery.ts';
import { idRange, pgArray } from '../../kernel/sql.ts';
import type { EventsById, StoredEvent } from '../renderer.ts';

export interface ReadEvents {
  readonly events: EventsById;
  /** Events that exist, but were skipped because the result would be too large. */
  readonly leftOut: ReadonlySet<EventId>;
}

type EventTuple = [
  id: string,
  accountId: string,
  interfaceName: InterfaceName,
  type: string,
  recordId: string | null,
  aboutSubscriptionId: string | null,
  occurredAtMs: number,
  requestId: string | null,
  isTest: boolean,
  snapshot: unknown,
];

/**
 * Reads events in the order of `ids`, in one row, until their snapshots have `bytesMax` together. Includes the first event
 * whatever its size. The bounds of the ids keep the statement from reading all partitions, and `any` from reading all
 * events between the bounds.
 *
 * Served by the primary keys of the partitions.
 */
export async function readEvents(database: Database, ids: readonly EventId[], bytesMax: number): Promise<ReadEvents> {
  const statement = sql('fan-out-read-events')`
      select
        '[' || string_agg(
          '["' || id || '","' || account_id || '","' || interface || '",' || to_json(event_type)
            || ',' || coalesce('"' || record_id || '"', 'null')
            || ',' || coalesce('"' || about_subscription_id || '"', 'null')
            || ',' || (extract(epoch from occurred_at) * 1000)::bigint
            || ',' || coalesce(to_json(request_id)::text, 'null') || ',' || is_test || ',' || snapshot || ']',
          ','
        ) filter (where bytes_before < $4) || ']' as events,
        coalesce(string_agg(id::text, ',') filter (where bytes_before >= $4), '') as "leftOut"
      from (
        select e.*, sum(octet_length(e.snapshot)) over (order by r.number) - octet_length(e.snapshot) as bytes_before
        from unnest($1::bigint[]) with ordinality as r (id, number)
        join (
          select id, account_id, interface, event_type, record_id, about_subscription_id, occurred_at, request_id, is_test,
            snapshot::text as snapshot
          from webhook_event where id = any($1::bigint[]) and id between $2 and $3
          offset 0 -- makes the text once
        ) e on e.id = r.id
      ) event`;
  const row = onlyRow(
    await database.query<{ events: string | null; leftOut: string }>(statement, [
      pgArray(ids),
      ...idRange(ids),
      bytesMax,
    ]),
  );
  const events = new ShortLivedMap<EventId, StoredEvent>();
  const tuples: EventTuple[] = row.events === null ? [] : JSON.parse(row.events);
  for (const [id, accountId, interfaceName, type, recordId, aboutId, ...rest] of tuples) {
    const [occurredAtMs, requestId, isTest, snapshot] = rest;
    const eventId: EventId = toRecordId(id);
    events.set(eventId, {
      id: eventId,
      accountId: toRecordId(accountId),
      interfaceName,
      type,
      recordId,
      aboutSubscriptionId: aboutId === null ? null : toRecordId(aboutId),
      occurredAt: new Date(occurredAtMs),
      snapshot,
      ...originOf(requestId),
      isTest,
    });
  }
  const leftOut = row.leftOut === '' ? [] : row.leftOut.split(',').map((id): EventId => toRecordId(id));
  return { events, leftOut: new Set(leftOut) };
}
