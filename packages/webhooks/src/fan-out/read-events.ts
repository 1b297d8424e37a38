import { toRecordId, type InterfaceName } from '@deedwire/domain';
import { onlyRow, type Database } from '@deedwire/store';
import type { EventId } from '../kernel/ids.ts';
import { pgArray } from '../kernel/pg-array.ts';
import type { StoredEvent } from './renderer.ts';

export interface ReadEvents {
  readonly events: ReadonlyMap<EventId, StoredEvent>;
  /** Events that exist, but were skipped because the result would be too large. */
  readonly leftOut: ReadonlySet<EventId>;
}

type EventTuple = [
  id: string,
  accountId: string,
  interfaceName: InterfaceName,
  type: string,
  occurredAtMs: number,
  requestId: string | null,
  snapshot: unknown,
];

/**
 * Reads events in the order of `ids`, in one row, until their snapshots have `bytesMax` together. Includes the first event
 * whatever its size. The bounds of the ids keep the statement from locking all partitions, and `any` from reading all
 * events between the bounds.
 *
 * Served by the primary keys of the partitions.
 */
export async function readEvents(database: Database, ids: readonly EventId[], bytesMax: number): Promise<ReadEvents> {
  const statement = {
    name: 'fan-out-read-events',
    text: `
      select
        '[' || string_agg(
          '["' || id || '","' || account_id || '","' || interface || '",' || to_json(event_type)
            || ',' || (extract(epoch from occurred_at) * 1000)::bigint
            || ',' || coalesce(to_json(request_id)::text, 'null') || ',' || snapshot || ']',
          ','
        ) filter (where bytes_before < $4) || ']' as events,
        coalesce(string_agg(id::text, ',') filter (where bytes_before >= $4), '') as "leftOut"
      from (
        select e.id, e.account_id, e.interface, e.event_type, e.occurred_at, e.request_id, e.snapshot::text as snapshot,
          sum(octet_length(e.snapshot::text)) over (order by r.number) - octet_length(e.snapshot::text) as bytes_before
        from unnest($1::bigint[]) with ordinality as r (id, number)
        join webhook_event e on e.id = r.id
        where e.id = any($1::bigint[]) and e.id between $2 and $3
      ) event`,
  };
  const [min, max] = boundsOf(ids);
  const row = onlyRow(
    await database.query<{ events: string | null; leftOut: string }>(statement, [pgArray(ids), min, max, bytesMax]),
  );
  const events = new Map<EventId, StoredEvent>();
  const tuples: EventTuple[] = row.events === null ? [] : JSON.parse(row.events);
  for (const [id, accountId, interfaceName, type, occurredAtMs, requestId, snapshot] of tuples) {
    const eventId: EventId = toRecordId(id);
    events.set(eventId, {
      id: eventId,
      accountId: toRecordId(accountId),
      interfaceName,
      type,
      occurredAt: new Date(occurredAtMs),
      snapshot,
      requestId,
    });
  }
  const leftOut = row.leftOut === '' ? [] : row.leftOut.split(',').map((id): EventId => toRecordId(id));
  return { events, leftOut: new Set(leftOut) };
}

/** Ids are decimal without leading zeros, so the longer one is larger. */
function boundsOf(ids: readonly EventId[]): [min: string, max: string] {
  let min = ids[0] ?? '0';
  let max: string = min;
  for (const id of ids) {
    if (isLess(id, min)) min = id;
    if (isLess(max, id)) max = id;
  }
  return [min, max];
}

function isLess(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
