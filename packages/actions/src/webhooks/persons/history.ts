import { type AccountId, eventOf, hasKeys, recordOfSnapshot } from '@deedwire/core';
import { type Database, onlyRow, sql } from '@deedwire/store';
import type { PersonRegistry } from '@deedwire/store/person-registry';
import { selectTime } from '@deedwire/store/time';
import { type DeliveryId, type EventId, storedRange } from '@deedwire/webhooks/tables';
import type { ActionContext } from '../../kernel/context.ts';
import { type OnProgress, unhurried } from '../../kernel/unhurried.ts';
import { splitForward } from '../deliveries/pages.ts';
import { selectExpiredBefore } from '../replay/replays.ts';

/** What identifies persons, beside the dependencies of a use case. */
export interface PersonContext extends ActionContext {
  registry: PersonRegistry;
}

/** An event of a type that identifies persons, of an account that can have such records. Its interface can have invented it. */
export interface PersonEvent {
  id: EventId;
  accountId: AccountId;
  type: string;
  /** Null if an app of an early release wrote the event, and it is erased or cannot be read. */
  recordId: string | null;
  /** The id that the application gave the record. Null if the type has none, and if the event is erased or cannot be read. */
  key: string | null;
  /** Null if its type has none, if the address is not searched for, and if it cannot be read. */
  address: string | null;
  /** What cannot be read. Null if nothing, or if it is not needed. */
  problem: string | null;
  isErased: boolean;
}

export interface PersonDelivery {
  id: DeliveryId;
  accountId: AccountId;
  type: string;
  /** Null if a worker of an early release wrote it. */
  recordId: string | null;
  /** As of its event. Null also if the event is deleted. */
  key: string | null;
  eventId: EventId;
  subscriptionId: string;
  isErased: boolean;
}

// Each row costs up to a buffer, and each day a few locks.
const rowsPerPart = 500;
const daysPerPart = 4;

/** Reads the parts of a table of the history from an id on, oldest first. Calls `take` with each row that matches. */
async function scan(
  database: Database,
  { noun, from, columns, row, condition }: Record<'columns' | 'condition' | 'from' | 'noun' | 'row', string>,
  values: readonly unknown[],
  onProgress: OnProgress,
  take: (row: never) => void,
): Promise<void> {
  type Part = { readTo: string | null; read: number; rows: never[] };
  const table = noun === 'events' ? 'webhook_event' : 'webhook_delivery';
  const statement = sql(`scan-${noun}-of-persons`, 'for-values')`
      with part as materialized (
        select id, ${columns} from ${table} where id >= $1::bigint and id < $2::bigint order by id limit ${rowsPerPart}
      )
      select case when count(*) = ${rowsPerPart} then max(id)::text end as "readTo", count(*)::int as read,
        coalesce(json_agg(json_build_object('id', id::text, ${row})) filter (where ${condition}), '[]') as rows
      from part`;
  let read = 0;
  const expiredBefore = BigInt(await selectExpiredBefore(database));
  const range = storedRange({ id: from, expiredBefore, now: await selectTime(database) });
  for (const { min, before } of splitForward(range, daysPerPart)) {
    for (let start: bigint | null = min; start !== null;) {
      const within: unknown[] = [start, before, ...values];
      const part: Part = onlyRow(await unhurried(() => database.query<Part>(statement, within)));
      read += part.read;
      onProgress(`Read ${read.toLocaleString('en')} ${noun}`);
      for (const each of part.rows) take(each);
      start = part.readTo === null ? null : BigInt(part.readTo) + 1n;
    }
  }
}

/** The types of the events and, in the same order, their interfaces. */
function eventsOfPersons({ events }: PersonRegistry): [types: string[], interfaceNames: string[]] {
  const pairs = [...events.values()].flatMap(({ type, interfaceNames }) =>
    interfaceNames.map((name) => [type, name] as const),
  );
  return [pairs.map(([type]) => type), pairs.map(([, name]) => name)];
}

/** Those of the service whose records have ids that the application gave. */
function keyedEventsOf({ service, registry }: PersonContext): string[] {
  return [...registry.events.values()].flatMap(({ type, recordType }) =>
    hasKeys({ service }, recordType) ? [type] : [],
  );
}

/** A row, with the snapshot of the event if it has one and its record has a key. */
type WithSnapshot<Row> = Omit<Row, 'key'> & { snapshot: object | null };

/** The key of the record, or why it cannot be read. */
function keyOf(
  context: PersonContext,
  { type, snapshot }: { type: string; snapshot: object | null },
): { key: string | null; problem: string | null } {
  const event = snapshot === null ? undefined : eventOf(context.service, type);
  if (snapshot === null || event === undefined) return { key: null, problem: null };
  try {
    return { key: recordOfSnapshot(context, event, snapshot)?.key ?? null, problem: null };
  } catch (error) {
    return { key: null, problem: error instanceof Error ? error.message : String(error) };
  }
}

const isOfPerson = '(event_type, interface::text) in (select * from unnest($3::text[], $4::text[]))';

/**
 * The events that can be about the records, or can have the address with this key: those of early releases have no record, and only
 * `addressKey()` knows how an address can be spelled that is not ASCII. Also those that cannot be read. Served by webhook_event_pkey.
 */
export function scanPersonEvents(
  context: PersonContext,
  { from, recordIds, key }: { from: string; recordIds: readonly string[]; key: string | null },
  onProgress: OnProgress,
  take: (event: PersonEvent) => void,
): Promise<void> {
  const { store, registry } = context;
  const address = `((person ->> 'address') collate "C")`;
  const part = {
    noun: 'events',
    from,
    columns: `account_id, event_type, record_id, snapshot, ${isOfPerson} as is_of_person,
          case when ${isOfPerson} and snapshot::text <> '{}'
            and (record_id is null or $6::text is not null and event_type = any ($7::text[]))
          then read_person_event(event_type, record_id, snapshot) end as person`,
    row: `'accountId', account_id::text, 'type', event_type, 'address', person ->> 'address', 'problem', person ->> 'problem',
          'recordId', case when person is null then record_id::text else person ->> 'recordId' end, 'isErased', snapshot::text = '{}',
          'snapshot', case when event_type = any ($8::text[]) and snapshot::text <> '{}' then snapshot end`,
    // In the locale of the database, the lower case of "I" can be another letter than "i".
    condition: `is_of_person and (record_id is null or record_id = any ($5::bigint[]) or person ->> 'problem' is not null
          or lower(${address}) = $6 or ${address} ~ '[^ -~]')`,
  };
  const withAddress = [...registry.events.values()].filter(({ hasAddress }) => hasAddress).map(({ type }) => type);
  const values = [...eventsOfPersons(registry), recordIds, key, withAddress, keyedEventsOf(context)];
  return scan(store, part, values, onProgress, ({ snapshot, ...event }: WithSnapshot<PersonEvent>) => {
    const read = keyOf(context, { type: event.type, snapshot });
    // Of which record it is, only its snapshot says.
    take(read.problem === null ? { ...event, key: read.key } : { ...event, ...read, recordId: null });
  });
}

/** The deliveries of events about these records, which may be deleted, and of these events. Served by webhook_delivery_pkey. */
export function scanPersonDeliveries(
  context: PersonContext,
  { from, recordIds, eventIds }: { from: string; recordIds: readonly string[]; eventIds: readonly EventId[] },
  onProgress: OnProgress,
  take: (delivery: PersonDelivery) => void,
): Promise<void> {
  const { store, registry } = context;
  const part = {
    noun: 'deliveries',
    from,
    columns: 'account_id, subscription_id, interface, event_id, event_type, record_id, erased_at',
    row: `'accountId', account_id::text, 'type', event_type, 'recordId', record_id::text, 'subscriptionId', subscription_id::text,
          'eventId', event_id::text, 'isErased', erased_at is not null, 'snapshot', case when event_type = any ($7::text[]) then (
            select snapshot from webhook_event where id = event_id and snapshot::text <> '{}' limit 1
          ) end`,
    condition: `${isOfPerson} and (event_id = any ($5::bigint[]) or record_id = any ($6::bigint[]))`,
  };
  const values = [...eventsOfPersons(registry), eventIds, recordIds, keyedEventsOf(context)];
  return scan(store, part, values, onProgress, ({ snapshot, ...delivery }: WithSnapshot<PersonDelivery>) => {
    const { key, problem } = keyOf(context, { type: delivery.type, snapshot });
    if (problem === null) take({ ...delivery, key });
  });
}
