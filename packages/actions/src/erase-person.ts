import { setTimeout as sleep } from 'node:timers/promises';
import {
  addressKey,
  formatAccountGid,
  formatGid,
  idAt,
  parseGid,
  personEvents,
  type PersonRecordType,
  timeOf,
  toRecordId,
} from '@deedwire/domain';
import { type Transaction, vacuumTables } from '@deedwire/store';
import { callErasing, type PersonRecord, selectOpenErasures } from '@deedwire/store/person-erasures';
import { workerOf } from '@deedwire/webhooks/outbox';
import type { DeliveryId } from '@deedwire/webhooks/tables';
import { findAccount } from './accounts.ts';
import { nameOperator } from './audit.ts';
import type { ActionContext, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';
import {
  type OnProgress,
  type PersonDelivery,
  type PersonEvent,
  scanPersonDeliveries,
  scanPersonEvents,
  unhurried,
} from './webhooks/persons/history.ts';

/** Whom to erase: the person of a record, by its global identifier, or of all records with an address, of one account if it is set. */
export type PersonInput = Record<'accountId' | 'address' | 'record', string | undefined>;

/** What is kept of a person: records with their accounts, by global identifiers, and the number of rows in each table that has any. */
export interface KeptOfPerson {
  records: { recordId: string; accountId: string }[];
  tables: { table: string; rows: number }[];
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
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist, `INVALID` if `record` is of another type, or if several accounts
 * have the address and `accountId` names none. Then nothing is erased.
 */
export async function erasePerson(
  context: OperatorContext,
  input: PersonInput,
  { isDryRun, directUrl, onProgress, onFound }: ErasePersonOptions,
): Promise<string[]> {
  const { store, operator, now } = context;
  const startId = idAt(now());
  const history: History = { events: [], deliveries: [] };
  const found = await findRecords(context, input, onProgress);
  await readHistory(context, found, oldestOf(found), history, onProgress);
  const kept = await describeKept(context, found, history);
  onFound(kept);
  if (isDryRun) return [];
  if (new Set(found.map(({ accountId }) => accountId)).size > 1)
    throw new RefusedError('INVALID', 'Several accounts have this address, so nothing was erased. Add --account.');
  const own = kept.tables.length > 0 ? found : [];
  const open = (await selectOpenErasures(store)).filter((each) => !own.some((other) => nameOf(other) === nameOf(each)));
  await readHistory(context, open, oldestOf(open), history, onProgress);
  const records = [...own, ...open];
  if (records.length === 0) return [];

  await store.transaction(async (transaction) => {
    await nameOperator(transaction, operator, 'person.erase');
    for (const { type, id, accountId } of records) {
      await callErasing(transaction, 'forget_keys_of_person', type, id);
      await callErasing(transaction, 'begin_person_erasure', type, id, accountId);
    }
  });
  type By = 'end_erased_deliveries' | 'erase_person_events' | 'mark_erased_deliveries';
  const erase = async (by: By, rows: readonly { id: string }[]): Promise<void> => {
    for (const ids of idsInParts(rows)) await unhurried(() => callErasing(store, by, ids));
  };
  // What was written since. Once events are erased, they get no further deliveries.
  await readHistory(context, records, startId, history, onProgress, () => erase('erase_person_events', history.events));
  await erase('mark_erased_deliveries', history.deliveries);
  await waitForWorkers(context, history.deliveries, onProgress);
  await erase('end_erased_deliveries', history.deliveries);
  const tables = tablesOf(history.events, now());
  for (const table of tables) await unhurried(() => callErasing(store, 'forget_emptied_table', table));
  const unvacuumed = await vacuumTables(directUrl, tables, (table) => onProgress(`Vacuuming ${table}`));
  for (const { type, id } of records) await unhurried(() => callErasing(store, 'end_person_erasure', type, id));
  return unvacuumed;
}

const workerMaxMs = 60_000;
/** An attempt takes 5 s at most, and its details are stored 100 ms later. */
const attemptMaxMs = 7_000;

/** Once it has read the subscription again, a worker has no payload of a delivery in its memory, apart from those in flight. */
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
  onProgress('Waiting for the worker and for requests in flight');
  const untilMs = performance.now() + workerMaxMs;
  while ((await callErasing(store, 'are_erased_deliveries_reread', reread)).includes(false)) {
    if (performance.now() > untilMs)
      throw new Error('For a minute, the worker has not read a subscription again, so it may still send. Try again.');
    await sleep(100);
  }
  await sleep(attemptMaxMs);
}

/**
 * The records of a person. With an address: those that have it, or had it in an event that is kept.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist, `INVALID` if `record` is of another type
 */
async function findRecords(
  context: ActionContext,
  { address, record, accountId: accountGid }: PersonInput,
  onProgress: OnProgress,
): Promise<PersonRecord[]> {
  const { store, gidNamespace } = context;
  const accountId = accountGid === undefined ? null : (await findAccount(context, null, accountGid)).id;
  const key = address === undefined ? null : addressKey(address);
  const hasAddress = ({ address: of }: { address: string | null }): boolean => of !== null && addressKey(of) === key;
  const named = record === undefined ? null : toRecord(gidNamespace, record);
  const records: PersonRecord[] = [];
  if (named !== null) {
    const [row] = await callErasing(store, 'person_row', named.type, named.id);
    if (row) return [{ ...named, accountId: row.accountId }];
  } else if (record !== undefined) {
    throw new RefusedError('INVALID', `${record} is neither a Referral nor a TeamMember of this installation.`);
  } else {
    for (const type of ['TeamMember', 'Referral'] as const)
      for (let after: string | null = '0'; after !== null;) {
        const from: string = after;
        const [part] = await unhurried(() => callErasing(store, 'person_addresses', type, from));
        records.push(...(part?.rows.filter(hasAddress) ?? []));
        after = part?.readTo ?? null;
      }
  }
  // A removed team member, and an earlier address, are in events only.
  const part = { from: named?.id ?? '1', recordIds: named ? [named.id] : [], key };
  await scanPersonEvents(store, part, onProgress, (event) => {
    const of = recordOf(gidNamespace, event);
    if (of !== null && (named === null ? hasAddress(event) : nameOf(of) === nameOf(named))) records.push(of);
  });
  const byName = new Map(records.map((each) => [nameOf(each), each]));
  return [...byName.values()].filter((each) => accountId === null || each.accountId === accountId);
}

function toRecord(gidNamespace: string, gid: string): Omit<PersonRecord, 'accountId'> | null {
  for (const type of ['TeamMember', 'Referral'] as const) {
    const id = parseGid(gidNamespace, type, gid);
    if (id !== null) return { type, id };
  }
  return null;
}

/** The record of an event. Null if it was erased, and an app of an early release wrote it. */
function recordOf(gidNamespace: string, { type, recordId, recordGid, accountId }: PersonEvent): PersonRecord | null {
  const recordType = personEvents.get(type)?.recordType;
  if (recordType === undefined) return null;
  if (recordId !== null) return { type: recordType, id: toRecordId<PersonRecordType>(recordId), accountId };
  const named = recordGid === null ? null : toRecord(gidNamespace, recordGid);
  return named?.type === recordType ? { ...named, accountId } : null;
}

function nameOf({ type, id }: Pick<PersonRecord, 'id' | 'type'>): string {
  return `${type} ${id}`;
}

function oldestOf(records: readonly PersonRecord[]): string {
  return records.map(({ id }) => id).toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))[0] ?? '0';
}

/** Adds the events and deliveries of these records to a history, from an id on. */
async function readHistory(
  { store, gidNamespace }: ActionContext,
  records: readonly PersonRecord[],
  from: string,
  { events, deliveries }: History,
  onProgress: OnProgress,
  onEvents = async (): Promise<void> => {},
): Promise<void> {
  if (records.length === 0) return;
  const names = new Set(records.map(nameOf));
  const accountIds = new Set(records.map(({ accountId }) => accountId));
  const options = { from, recordIds: records.map(({ id }) => id), key: null };
  await scanPersonEvents(store, options, onProgress, (event) => {
    const record = recordOf(gidNamespace, event);
    // The event of an early release is erased, and its deliveries may not be.
    if (record === null ? event.isErased && accountIds.has(event.accountId) : names.has(nameOf(record)))
      events.push(event);
  });
  await onEvents();
  // A worker of an earlier release writes no record beside the event of a delivery.
  const eventIds = events.map(({ id }) => id);
  await scanPersonDeliveries(store, { from, records, eventIds }, onProgress, (row) => deliveries.push(row));
}

function idsInParts<Id extends string>(rows: readonly { id: Id }[]): Id[][] {
  const ids = [...new Set(rows.map(({ id }) => id))];
  return Array.from({ length: Math.ceil(ids.length / idsPerStatement) }, (_, part) =>
    ids.slice(part * idsPerStatement, (part + 1) * idsPerStatement),
  );
}

const dayMs = 86_400_000;

/** The tables and partitions from which something is deleted. */
function tablesOf(events: readonly PersonEvent[], now: Date): string[] {
  const days = new Set(events.map(({ id }) => Math.floor(timeOf(id).getTime() / dayMs)));
  const tables = ['team_member', 'referral', 'idempotency_key'];
  for (let day = Math.min(...days); (day - 1) * dayMs < now.getTime(); day += 1) {
    const suffix = new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '');
    // An exchange belongs to the day on which it was stored.
    tables.push(`webhook_exchange_${suffix}`);
    if (days.has(day)) tables.push(`webhook_event_${suffix}`, `webhook_payload_${suffix}`);
  }
  return tables;
}

async function describeKept(
  { store, gidNamespace }: ActionContext,
  records: readonly PersonRecord[],
  { events, deliveries }: History,
): Promise<KeptOfPerson> {
  const tables: Record<string, number> = {
    webhook_event: events.filter(({ isErased }) => !isErased).length,
    webhook_delivery: deliveries.filter(({ isErased }) => !isErased).length,
  };
  const add = (table: string, count: number): void => void (tables[table] = (tables[table] ?? 0) + count);
  for (const record of records) {
    const [row] = await unhurried(() => callErasing(store, 'person_row', record.type, record.id));
    const { isErased = true, savedResults = 0 } = row ?? {};
    add(record.type === 'TeamMember' ? 'team_member' : 'referral', isErased ? 0 : 1);
    add('idempotency_key', savedResults);
  }
  const [ofEvents, ofDeliveries] = [idsInParts(events), idsInParts(deliveries)];
  for (let part = 0; part < Math.max(ofEvents.length, ofDeliveries.length); part += 1) {
    const ids = [ofEvents[part] ?? [], ofDeliveries[part] ?? []];
    const [counts = {}] = await unhurried(() => callErasing(store, 'count_kept_of_person', ...ids));
    for (const [table, count] of Object.entries(counts)) add(table, count);
  }
  return {
    records: records.map(({ type, id, accountId }) => ({
      recordId: formatGid<PersonRecordType>(gidNamespace, type, id),
      accountId: formatAccountGid(gidNamespace, type === 'TeamMember' ? 'lender' : 'partner', accountId),
    })),
    tables: Object.entries(tables).flatMap(([table, count]) => (count > 0 ? [{ table, rows: count }] : [])),
  };
}
