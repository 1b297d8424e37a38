import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AccountId,
  addressKey,
  formatAccountGid,
  formatGid,
  idAt,
  parseGid,
  parseRecordId,
  personEvents,
  type PersonRecordType,
  placeholderOf,
  timeOf,
  toRecordId,
} from '@deedwire/domain';
import { AccountAwayError, type Transaction, vacuumTables } from '@deedwire/store';
import { sendingMs } from '@deedwire/store/cell-splits';
import { callErasing, type PersonRecord, selectOpenErasures } from '@deedwire/store/person-erasures';
import { selectTime } from '@deedwire/store/time';
import { workerOf } from '@deedwire/webhooks/outbox';
import type { DeliveryId } from '@deedwire/webhooks/tables';
import { findAccount } from './accounts.ts';
import { nameOperator } from './audit.ts';
import type { ActionContext, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';
import { type OnProgress, unhurried } from './unhurried.ts';
import {
  type PersonDelivery,
  type PersonEvent,
  scanPersonDeliveries,
  scanPersonEvents,
} from './webhooks/persons/history.ts';

/** Whom to erase: the person of a record, by its global identifier, or of all records with an address, of one account if it is set. */
export type PersonInput = Record<'accountId' | 'address' | 'record', string | undefined>;

/** A record and its account, by global identifiers. */
type PersonRecordIds = Record<'accountId' | 'recordId', string>;

/** What is kept of a person. */
export interface KeptOfPerson {
  records: PersonRecordIds[];
  /** The number of rows in each table that has any. */
  tables: { table: string; rows: number }[];
  /** Records of any person whose erasure was interrupted, or runs, in accounts at home. The next erasure finishes these too. */
  unfinished: PersonRecordIds[];
}

const idsPerStatement = 100;

export interface ErasePersonOptions {
  /** Only finds what is kept. */
  isDryRun: boolean;
  /** A direct connection, for VACUUM. */
  directUrl: string;
  onProgress: OnProgress;
  /** Called before anything is erased. */
  onFound: (kept: KeptOfPerson) => void;
}

/** What is stored of records. Rows can be in it twice. */
type History = { events: PersonEvent[]; deliveries: PersonDelivery[] };

/**
 * Erases a person from the records, from what events keep of them, and from the results of requests, and finishes erasures that were
 * interrupted. Does nothing if nothing is kept.
 *
 * @returns the tables that the login of `directUrl` may not vacuum
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist, or neither the record nor an event of it, `INVALID` if `record` is
 * of another type, or if several accounts have the address and `accountId` names none, `CONFLICT` if another team member has the
 * placeholder, or if something was written about the person meanwhile. Nothing is erased, unless the message says that the erasure is not
 * finished.
 */
export async function erasePerson(
  context: OperatorContext,
  input: PersonInput,
  options: ErasePersonOptions,
): Promise<string[]> {
  const { store } = context;
  const { isDryRun, onProgress, onFound } = options;
  const startedAt = await selectTime(store);
  const history: History = { events: [], deliveries: [] };
  const unfinished = await selectOpenErasures(store);
  const found = await findRecords(context, input, unfinished, onProgress);
  await readHistory(context, found, history, onProgress);
  const tables = await countKept(context, found, history);
  const describe = (records: readonly PersonRecord[]) => records.map((record) => idsOf(context, record));
  onFound({ records: describe(found), tables, unfinished: describe(unfinished) });
  if (isDryRun) return [];
  if (new Set(found.map(({ accountId }) => accountId)).size > 1)
    throw new RefusedError('INVALID', 'Several accounts have this address, so nothing was erased. Add --account.');
  const own = tables.length > 0 ? found : [];
  const others = unfinished.filter((each) => !own.some((other) => nameOf(other) === nameOf(each)));
  await readHistory(context, others, history, onProgress);
  const records = [...own, ...others];
  const [first] = records;
  if (first === undefined) return [];

  await beginErasing(context, first);
  return finishErasing(context, { records, history, startedAt }, options).catch((error: unknown) => {
    if (error instanceof RefusedError)
      throw new RefusedError(error.code, `The erasure is not finished. ${error.message}`);
    // The message of the first one says that nothing was changed.
    const [cause, where] =
      error instanceof AccountAwayError ? [error.cause, ' where the account is at home'] : [error, ''];
    throw new Error(`The erasure is not finished. Run the command again${where}.`, { cause });
  });
}

async function beginErasing(
  { store, operator }: OperatorContext,
  { type, id, accountId }: PersonRecord,
): Promise<void> {
  const begin = async (transaction: Transaction): Promise<void> => {
    await nameOperator(transaction, operator, 'person.erase');
    await callErasing(transaction, 'forget_keys_of_person', type, id);
    await callErasing(transaction, 'begin_person_erasure', type, id, accountId);
  };
  await unhurried(() => store.transaction(begin)).catch((error: unknown) => {
    if (!(error instanceof Error && 'constraint' in error && error.constraint === 'team_member_email')) throw error;
    const message = `Another team member has ${placeholderOf(id, 'address')}, the placeholder of ${nameOf({ type, id })}.`;
    throw new RefusedError('CONFLICT', `${message} Change this address, and run the command again.`);
  });
}

interface BegunErasure {
  /** The erasure of the first one has begun. */
  records: PersonRecord[];
  history: History;
  startedAt: Date;
}

async function finishErasing(
  context: OperatorContext,
  { records, history, startedAt }: BegunErasure,
  { directUrl, onProgress }: ErasePersonOptions,
): Promise<string[]> {
  const { store } = context;
  for (const record of records.slice(1)) await beginErasing(context, record);
  type By = 'end_erased_deliveries' | 'erase_person_events' | 'mark_erased_deliveries';
  const erase = async (by: By, rows: readonly { id: string }[]): Promise<void> => {
    for (const ids of idsInParts(rows)) await unhurried(() => callErasing(store, by, ids));
  };
  // What was written since. Once events are erased, they get no further deliveries.
  const since = { from: idAt(startedAt), onEvents: () => erase('erase_person_events', history.events) };
  await readHistory(context, records, history, onProgress, since);
  await erase('mark_erased_deliveries', history.deliveries);
  await waitForWorkers(context, history.deliveries, onProgress);
  await erase('end_erased_deliveries', history.deliveries);
  const tables = tablesOf(history, startedAt);
  for (const table of tables) {
    const forget = (): Promise<unknown> => callErasing(store, 'forget_emptied_table', table);
    // The worker can drop a partition while it is read. It does not exist for the second call.
    await unhurried(() => forget().catch(forget));
  }
  const unvacuumed = await vacuumTables(directUrl, tables, (table) => onProgress(`Vacuuming ${table}`));
  // Before the erasures end: an address no longer finds these records, and the next run finishes what has not ended.
  const later: History = { events: [], deliveries: [] };
  await readHistory(context, records, later, onProgress, { from: idAt(startedAt) });
  if ((await countKept(context, records, later)).length > 0)
    throw new RefusedError('CONFLICT', 'What was written about the person meanwhile is kept. Run the command again.');
  for (const { type, id } of records) await unhurried(() => callErasing(store, 'end_person_erasure', type, id));
  return unvacuumed;
}

const workerMaxMs = 60_000;

/**
 * Once it has read the subscription again, a worker has no payload of a delivery in its memory, apart from those in flight. A worker
 * that was declared dead reads no more targets, so it sends none of its payloads when their age is over.
 */
async function waitForWorkers(
  { store }: OperatorContext,
  deliveries: readonly PersonDelivery[],
  onProgress: OnProgress,
): Promise<void> {
  /** One delivery of each subscription that workers read again. */
  const reread: DeliveryId[] = [];
  for (const ofSubscription of Map.groupBy(deliveries, ({ subscriptionId }) => subscriptionId).values())
    for (const ids of idsInParts(ofSubscription)) {
      const notifyWorkers = async (transaction: Transaction): Promise<boolean> => {
        const accountIds = await callErasing(transaction, 'reread_erased_deliveries', ids);
        for (const accountId of accountIds) transaction.notifyAfterCommit(workerOf(accountId));
        return accountIds.length > 0;
      };
      if (!(await unhurried(() => store.transaction(notifyWorkers)))) continue;
      reread.push(...ids.slice(0, 1));
      break;
    }
  // What was erased before has been waited for, unless it is still pending.
  if (reread.length === 0 && deliveries.every(({ isErased }) => isErased)) return;
  const untilMs = performance.now() + workerMaxMs;
  while ((await callErasing(store, 'are_erased_deliveries_reread', reread)).includes(false)) {
    if (performance.now() > untilMs)
      throw new Error('For a minute, the worker has not read a subscription again, so it may still send. Try again.');
    onProgress('Waiting for the worker');
    await sleep(100);
  }
  // Until a worker without a lease is declared dead, it goes on where it was suspended.
  await callErasing(store, 'webhook_unquiet_workers', 'infinity');
  for (let waitedMs = 0; waitedMs < sendingMs; waitedMs += 1_000) {
    onProgress('Waiting for requests in flight');
    await sleep(1_000);
  }
}

/**
 * The record that is named, or the records that have an address, or had it in an event that is kept.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist, or neither the record nor an event of it, `INVALID` if `record` is
 * of another type
 */
async function findRecords(
  context: ActionContext,
  { address = '', record, accountId: accountGid }: PersonInput,
  unfinished: readonly PersonRecord[],
  onProgress: OnProgress,
): Promise<PersonRecord[]> {
  const { store, gidNamespace } = context;
  if (record !== undefined) {
    const named = recordTypes.flatMap((type) => {
      const id = parseGid<PersonRecordType>(gidNamespace, type, record) ?? parseRecordId<PersonRecordType>(record);
      return id === null ? [] : [{ type, id, accountId: null }];
    });
    if (named.length === 0)
      throw new RefusedError('INVALID', `${record} is neither a Referral nor a TeamMember of this installation.`);
    for (const each of named) {
      const [row] = await callErasing(store, 'person_row', each.type, each.id);
      if (row) return [{ ...each, accountId: row.accountId }];
    }
    // Of a removed team member, events are left, and deliveries for a week longer.
    const left: History = { events: [], deliveries: [] };
    await readHistory(context, named, left, onProgress);
    const names = new Set(named.map(nameOf));
    const [removed] = [
      ...[...left.events, ...left.deliveries].flatMap((each) => recordOf(each) ?? []),
      ...unfinished.filter((each) => names.has(nameOf(each))),
    ];
    if (removed === undefined)
      throw new RefusedError('NOT_FOUND', `${record} does not exist, and no event of it is kept.`);
    return [removed];
  }
  const accountId = accountGid === undefined ? null : (await findAccount(context, null, accountGid)).id;
  const key = addressKey(address);
  const records = new Map<string, PersonRecord>();
  const add = (each: PersonRecord | null, of: string | null): void => {
    if (each === null || of === null || addressKey(of) !== key) return;
    if (accountId === null || each.accountId === accountId) records.set(nameOf(each), each);
  };
  for (const type of recordTypes)
    for (let after: string | null = '0'; after !== null;) {
      const from: string = after;
      const [part] = await unhurried(() => callErasing(store, 'person_addresses', type, from));
      for (const row of part?.rows ?? []) add(row, row.address);
      after = part?.readTo ?? null;
    }
  // A removed team member, and an earlier address, are in events only.
  const all = { from: '1', recordIds: [], key };
  await scanPersonEvents(store, all, onProgress, (event) => add(recordOf(event), event.address));
  return [...records.values()];
}

const recordTypes = ['TeamMember', 'Referral'] as const;

function recordOf({ type, recordId, accountId }: PersonDelivery | PersonEvent): PersonRecord | null {
  const recordType = personEvents.get(type)?.recordType;
  return recordType && recordId !== null ? { type: recordType, id: toRecordId(recordId), accountId } : null;
}

function nameOf({ type, id }: Pick<PersonRecord, 'id' | 'type'>): string {
  return `${type} ${id}`;
}

/** Adds the events and deliveries of these records to a history, by default all of them. */
async function readHistory(
  { store }: ActionContext,
  records: readonly (Omit<PersonRecord, 'accountId'> & { accountId: AccountId | null })[],
  { events, deliveries }: History,
  onProgress: OnProgress,
  { from, onEvents }: { from?: string; onEvents?: () => Promise<void> } = {},
): Promise<void> {
  const recordIds = records.map(({ id }) => id).toSorted((a, b) => Number(BigInt(a) - BigInt(b)));
  const [oldest] = recordIds;
  if (oldest === undefined) return;
  const names = new Set(records.map(nameOf));
  const accountIds = new Set(records.map(({ accountId }) => accountId));
  const of = { from: from ?? oldest, recordIds, key: null };
  await scanPersonEvents(store, of, onProgress, (event) => {
    const record = recordOf(event);
    // The event of an early release is erased, and its deliveries may not be.
    if (record === null ? event.isErased && accountIds.has(event.accountId) : names.has(nameOf(record)))
      events.push(event);
  });
  await onEvents?.();
  // A worker of an earlier release writes no record beside the event of a delivery.
  const eventIds = events.map(({ id }) => id);
  await scanPersonDeliveries(store, { ...of, eventIds }, onProgress, (delivery) => {
    const record = recordOf(delivery);
    if (record === null || names.has(nameOf(record))) deliveries.push(delivery);
  });
}

function* idsInParts<Id extends string>(rows: readonly { id: Id }[]): Generator<Id[]> {
  const ids = [...new Set(rows.map(({ id }) => id))];
  while (ids.length > 0) yield ids.splice(0, idsPerStatement);
}

const dayMs = 86_400_000;

/** The tables and partitions from which something is deleted. */
function tablesOf({ events, deliveries }: History, now: Date): string[] {
  const daysOf = (rows: History['deliveries' | 'events']): Set<number> =>
    new Set(rows.map(({ id }) => Math.floor(timeOf(id).getTime() / dayMs)));
  const days = daysOf(events);
  const tables = ['team_member', 'referral', 'idempotency_key'];
  for (let day = Math.min(...days, ...daysOf(deliveries)); (day - 1) * dayMs < now.getTime(); day += 1) {
    const suffix = new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '');
    // An exchange belongs to the day on which it was stored.
    tables.push(`webhook_exchange_${suffix}`);
    if (days.has(day)) tables.push(`webhook_event_${suffix}`, `webhook_payload_${suffix}`);
  }
  return tables;
}

/** The tables that have rows of these records, with their number. */
async function countKept(
  { store }: ActionContext,
  records: readonly PersonRecord[],
  { events, deliveries }: History,
): Promise<KeptOfPerson['tables']> {
  const tables: Record<string, number> = {};
  const add = (counts: Record<string, number>): void => {
    for (const [table, count] of Object.entries(counts)) tables[table] = (tables[table] ?? 0) + count;
  };
  const keptOf = (rows: History['deliveries' | 'events']): number => rows.filter(({ isErased }) => !isErased).length;
  add({ webhook_event: keptOf(events), webhook_delivery: keptOf(deliveries) });
  for (const { type, id } of records) {
    const [row] = await unhurried(() => callErasing(store, 'person_row', type, id));
    const table = type === 'TeamMember' ? 'team_member' : 'referral';
    if (row) add({ [table]: Number(!row.isErased), idempotency_key: row.savedResults });
  }
  const addOf = async (...ids: readonly (readonly string[])[]): Promise<void> => {
    for (const counts of await unhurried(() => callErasing(store, 'count_kept_of_person', ...ids))) add(counts);
  };
  for (const ids of idsInParts(events)) await addOf(ids, []);
  for (const ids of idsInParts(deliveries)) await addOf([], ids);
  return Object.entries(tables).flatMap(([table, count]) => (count > 0 ? [{ table, rows: count }] : []));
}

function idsOf({ gidNamespace }: ActionContext, { type, id, accountId }: PersonRecord): PersonRecordIds {
  return {
    recordId: formatGid<PersonRecordType>(gidNamespace, type, id),
    accountId: formatAccountGid(gidNamespace, type === 'TeamMember' ? 'lender' : 'partner', accountId),
  };
}
