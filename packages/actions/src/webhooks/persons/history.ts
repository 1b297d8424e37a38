import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId } from '@deedwire/domain';
import { type Database, onlyRow } from '@deedwire/store';
import { type DeliveryId, type EventId, type IdRange, storedRange } from '@deedwire/webhooks/tables';
import { splitForward } from '../deliveries/pages.ts';

/** An event of a type that identifies persons. */
export interface PersonEvent {
  id: EventId;
  accountId: AccountId;
  type: string;
  /** The number of its record. Null if an app of an early release wrote the event. */
  recordId: string | null;
  /** The global identifier of its record. Null once it is erased. */
  recordGid: string | null;
  /** Null if the record has none in the event. */
  address: string | null;
  isErased: boolean;
}

export interface PersonDelivery {
  id: DeliveryId;
  subscriptionId: string;
  isErased: boolean;
}

/** Called with what the work has done so far, for example `Read 12,000 events`. */
export type OnProgress = (done: string) => void;

// Each row costs up to a buffer, and each day a few locks.
const rowsPerPart = 2_000;
const daysPerPart = 4;

/** Leaves the database to others for as long as the work took. */
export async function unhurried<Result>(work: () => Promise<Result>): Promise<Result> {
  const startMs = performance.now();
  const result = await work();
  await sleep(performance.now() - startMs);
  return result;
}

/** Reads one part of a table of the history after the other, oldest first. Yields what matches. */
async function* scan<Row>(
  database: Database,
  { noun, columns, row, condition }: Record<'columns' | 'condition' | 'noun' | 'row', string>,
  range: IdRange,
  values: readonly unknown[],
  onProgress: OnProgress,
): AsyncGenerator<Row[]> {
  type Part = { readTo: string | null; read: number; rows: Row[] };
  const table = noun === 'events' ? 'webhook_event' : 'webhook_delivery';
  const statement = {
    name: `scan-${noun}-of-persons`,
    planning: 'for-values' as const,
    text: `
      with part as materialized (
        select id, ${columns} from ${table} where id >= $1::bigint and id < $2::bigint order by id limit ${rowsPerPart}
      )
      select case when count(*) = ${rowsPerPart} then max(id)::text end as "readTo", count(*)::int as read,
        coalesce(json_agg(json_build_object('id', id::text, ${row})) filter (where ${condition}), '[]') as rows
      from part`,
  };
  let read = 0;
  for (const { min, before } of splitForward(range, daysPerPart)) {
    for (let from: bigint | null = min; from !== null;) {
      const bounds: bigint[] = [from, before];
      const part: Part = onlyRow(await unhurried(() => database.query<Part>(statement, [...bounds, ...values])));
      read += part.read;
      onProgress(`Read ${read.toLocaleString('en')} ${noun}`);
      yield part.rows;
      from = part.readTo === null ? null : BigInt(part.readTo) + 1n;
    }
  }
}

/**
 * The events of these types. Served by webhook_event_pkey.
 *
 * @param accountIds null for all accounts
 */
export function scanPersonEvents(
  database: Database,
  range: IdRange,
  types: readonly string[],
  accountIds: readonly AccountId[] | null,
  onProgress: OnProgress,
): AsyncGenerator<PersonEvent[]> {
  const part = {
    noun: 'events',
    columns: 'account_id, event_type, record_id, snapshot',
    row: `'accountId', account_id::text, 'type', event_type, 'recordId', record_id::text,
          'recordGid', coalesce(snapshot #>> '{teamMember,id}', snapshot #>> '{referral,id}'),
          'address', snapshot #>> '{teamMember,email}', 'isErased', snapshot::text = '{}'`,
    condition: 'event_type = any ($3::text[]) and ($4::bigint[] is null or account_id = any ($4))',
  };
  return scan(database, part, range, [types, accountIds], onProgress);
}

/** The deliveries of these events, and those of events about these records, which may be deleted. Served by webhook_delivery_pkey. */
export function scanPersonDeliveries(
  database: Database,
  range: IdRange,
  types: readonly string[],
  events: readonly PersonEvent[],
  records: readonly { id: string; accountId: AccountId }[],
  onProgress: OnProgress,
): AsyncGenerator<PersonDelivery[]> {
  const part = {
    noun: 'deliveries',
    columns: 'account_id, subscription_id, event_id, event_type, record_id, erased_at',
    row: `'subscriptionId', subscription_id::text, 'isErased', erased_at is not null`,
    condition: `event_type = any ($3::text[]) and (event_id = any ($4::bigint[])
          or (record_id, account_id) in (select * from unnest($5::bigint[], $6::bigint[])))`,
  };
  const accountIds = records.map(({ accountId }) => accountId);
  const values = [types, events.map(({ id }) => id), records.map(({ id }) => id), accountIds];
  return scan(database, part, range, values, onProgress);
}

/** The ids that stored events and deliveries about records with this id or a later one can have. No event is older than its record. */
export async function selectHistoryRange(database: Database, id: string): Promise<IdRange> {
  const statement = {
    name: 'select-bounds-of-history',
    text: 'select expired_before as "expiredBefore", clock_timestamp() as now from webhook_retention',
  };
  const { expiredBefore, now } = onlyRow(await database.query<{ expiredBefore: string; now: Date }>(statement, []));
  return storedRange({ id, expiredBefore: BigInt(expiredBefore), now });
}
