import { gid, idAt, timeOf } from '@deedwire/core';
import { type Transaction, vacuumTables } from '@deedwire/store';
import { callErasing, type PersonRecord } from '@deedwire/store/person-erasures';
import type { PersonRegistry } from '@deedwire/store/person-registry';
import type { EventId } from '@deedwire/webhooks/tables';
import { nameOperator } from '../kernel/audit.ts';
import type { OperatorContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import { type OnProgress, unhurried } from '../kernel/unhurried.ts';
import type { PersonContext } from '../webhooks/persons/history.ts';
import { countKept, idsInParts, type KeptRows } from '../webhooks/persons/kept-of-person.ts';
import { nameOf, newHistory, type PersonHistory, readHistory, recordOf } from '../webhooks/persons/person-history.ts';
import { waitForWorkers } from '../webhooks/persons/wait-for-workers.ts';

/** What an erasure needs. */
export type ErasingContext = OperatorContext & PersonContext;

export async function beginErasing(
  { store, registry, operator, gidNamespace }: ErasingContext,
  { type, id, key, accountId }: PersonRecord,
): Promise<void> {
  // The database knows no namespace.
  const subject = key === null ? null : gid(gidNamespace, type, key).replace(/^gid:\/\/[^/]*\//, '');
  const begin = async (transaction: Transaction): Promise<void> => {
    await nameOperator(transaction, operator, 'person.erase');
    await callErasing(transaction, 'forget_keys_of_person', type, id);
    await callErasing(transaction, 'begin_record_erasure', type, id, accountId, key, subject);
  };
  await unhurried(() => store.transaction(begin)).catch((error: unknown) => {
    const table = registry.records.get(type)?.tables.find((each) => isTaken(error, each));
    const [placeholder] = /erased-\d+(?:@erased\.invalid)?/.exec(String(Reflect.get(Object(error), 'detail'))) ?? [];
    if (table === undefined || placeholder === undefined) throw error;
    const message = `Another ${table.replaceAll('_', ' ')} has ${placeholder}, the placeholder of ${type} ${id}.`;
    throw new RefusedError('CONFLICT', `${message} Change it, and run the command again.`);
  });
}

const uniqueViolation = '23505';

/** Whether a row of the table has a placeholder that must be unique. */
function isTaken(error: unknown, table: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === uniqueViolation &&
    'table' in error &&
    error.table === table
  );
}

/** A record whose erasure has not ended, because something was written about it meanwhile. */
export interface OpenErasure {
  record: PersonRecord;
  written: KeptRows[];
  eventIds: EventId[];
}

/** Who writes about a record all the time keeps its erasure from ending. */
const passesMax = 10;

/**
 * Erases records whose erasure has begun, and what is written about them meanwhile.
 *
 * @param history what is stored of them
 * @param unvacuumed gets the tables that the login may not vacuum
 */
export async function eraseRecords(
  context: ErasingContext,
  records: readonly PersonRecord[],
  history: PersonHistory,
  { startedAt, directUrl, onProgress, unvacuumed }: EraseRecordsOptions,
): Promise<OpenErasure[]> {
  const { store } = context;
  const from = idAt(startedAt);
  const all = newHistory();
  const clean = async (): Promise<void> => {
    const tables = tablesOf(context.registry, all, startedAt);
    for (const table of tables) {
      const forget = (): Promise<unknown> => callErasing(store, 'forget_emptied_table', table);
      // The worker can drop a partition while it is read. It does not exist for the second call.
      await unhurried(() => forget().catch(forget));
    }
    for (const table of await vacuumTables(directUrl, tables, (each) => onProgress(`Vacuuming ${each}`)))
      unvacuumed.add(table);
  };
  let open: OpenErasure[] = [];
  let left = records;
  let found = history;
  for (let pass = 1; left.length > 0 && pass <= passesMax; pass += 1) {
    if (pass > 1) {
      for (const record of left) await beginErasing(context, record);
      found = newHistory();
    }
    await eraseHistory(context, left, found, from, onProgress);
    all.events.push(...found.events);
    all.deliveries.push(...found.deliveries);
    // Before the erasures end, so that an interrupted command vacuums again. Later, little is left of what was written meanwhile.
    if (pass === 1) await clean();
    open = await endErasures(context, left, from, onProgress);
    left = open.map(({ record }) => record);
  }
  if (found !== history) await clean();
  return open;
}

export interface EraseRecordsOptions {
  startedAt: Date;
  /** A direct connection, for VACUUM. */
  directUrl: string;
  onProgress: OnProgress;
  unvacuumed: Set<string>;
}

/** Erases a history, and adds to it what was written since. */
async function eraseHistory(
  context: ErasingContext,
  records: readonly PersonRecord[],
  history: PersonHistory,
  from: string,
  onProgress: OnProgress,
): Promise<void> {
  type By = 'end_erased_deliveries' | 'erase_person_events' | 'mark_erased_deliveries';
  const erase = async (by: By, rows: readonly { id: string }[]): Promise<void> => {
    for (const ids of idsInParts(rows)) await unhurried(() => callErasing(context.store, by, ids));
  };
  // Once events are erased, they get no further deliveries.
  const since = { from, onEvents: () => erase('erase_person_events', history.events) };
  await readHistory(context, records, history, onProgress, since);
  await erase('mark_erased_deliveries', history.deliveries);
  await waitForWorkers(context, history.deliveries, onProgress);
  await erase('end_erased_deliveries', history.deliveries);
}

function nameIn(registry: PersonRegistry, each: PersonHistory['deliveries' | 'events'][number]): string | null {
  const record = recordOf(registry, each);
  return record && nameOf(record);
}

/** Ends the erasure of each record of which nothing is left. From then on, no address finds the record. */
async function endErasures(
  context: ErasingContext,
  records: readonly PersonRecord[],
  from: string,
  onProgress: OnProgress,
): Promise<OpenErasure[]> {
  const later = newHistory();
  await readHistory(context, records, later, onProgress, { from });
  const eventsOf = Map.groupBy(later.events, (each) => nameIn(context.registry, each));
  const deliveriesOf = Map.groupBy(later.deliveries, (each) => nameIn(context.registry, each));
  const open: OpenErasure[] = [];
  for (const record of records) {
    // What an early release wrote about one of them names none.
    const names = new Set([nameOf(record), nameOf({ ...record, key: null }), null]);
    const events = [...names].flatMap((name) => eventsOf.get(name) ?? []);
    const deliveries = [...names].flatMap((name) => deliveriesOf.get(name) ?? []);
    const written = await countKept(context, [record], { events, deliveries });
    const eventIds = events.filter(({ isErased }) => !isErased).map(({ id }) => id);
    if (written.length > 0) open.push({ record, written, eventIds });
    else
      await unhurried(() => callErasing(context.store, 'end_record_erasure', record.type, record.id, record.accountId));
  }
  return open;
}

const dayMs = 86_400_000;

function daysOf(rows: PersonHistory['deliveries' | 'events']): Set<number> {
  return new Set(rows.map(({ id }) => Math.floor(timeOf(id).getTime() / dayMs)));
}

/** The tables and partitions from which something is deleted. */
function tablesOf(registry: PersonRegistry, { events, deliveries }: PersonHistory, now: Date): string[] {
  const days = daysOf(events);
  const tables = [...[...registry.records.values()].flatMap((each) => each.tables), 'idempotency_key'];
  for (let day = Math.min(...days, ...daysOf(deliveries)); (day - 1) * dayMs < now.getTime(); day += 1) {
    const suffix = new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '');
    // An exchange belongs to the day on which it was stored.
    tables.push(`webhook_exchange_${suffix}`);
    if (days.has(day)) tables.push(`webhook_event_${suffix}`, `webhook_payload_${suffix}`);
  }
  return tables;
}
