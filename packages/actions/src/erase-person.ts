import { setTimeout as sleep } from 'node:timers/promises';
import {
  addressKey,
  formatAccountGid,
  formatGid,
  parseGid,
  personEvents,
  type PersonRecordType,
  timeOf,
  toRecordId,
} from '@deedwire/domain';
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
  selectHistoryRange,
  unhurried,
} from './webhooks/persons/history.ts';

/** Whom to erase: the person of a record, or of all records with an address. */
export interface PersonInput {
  address?: string | undefined;
  /** The global identifier of a referral or of a team member, which may be removed. */
  record?: string | undefined;
  /** Only records of this account. */
  accountId?: string | undefined;
}

/** What is kept of a person: records with their accounts, by global identifiers, and the number of rows in each table that has any. */
export interface KeptOfPerson {
  records: { recordId: string; accountId: string }[];
  tables: { table: string; rows: number }[];
}

const types = [...personEvents.keys()];
const idsPerStatement = 500;

export interface ErasePersonOptions {
  /** Only finds what is kept. */
  isDryRun: boolean;
  onProgress: OnProgress;
  /** Called before anything is erased. */
  onFound: (kept: KeptOfPerson) => void;
  /** Removes deleted rows from tables, some of which may not exist. */
  vacuum: (tables: readonly string[]) => Promise<void>;
}

/**
 * Erases a person from the records, from what events keep of them, and from the results of requests, and finishes erasures that were
 * interrupted. Does nothing if nothing is kept.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist, `INVALID` if `record` is of another type, or if several accounts
 * have the address and `accountId` names none. Then nothing is erased.
 */
export async function erasePerson(
  context: OperatorContext,
  input: PersonInput,
  { isDryRun, onProgress, onFound, vacuum }: ErasePersonOptions,
): Promise<void> {
  const { store, operator, now } = context;
  const found = await findRecords(context, input, onProgress);
  const kept = await describeKept(context, found, onProgress);
  onFound(kept);
  if (isDryRun) return;
  if (new Set(found.map(({ accountId }) => accountId)).size > 1)
    throw new RefusedError('INVALID', 'Several accounts have this address, so nothing was erased. Add --account.');
  const records = unique([...(kept.tables.length > 0 ? found : []), ...(await selectOpenErasures(store))]);
  if (records.length === 0) return;

  await store.transaction(async (transaction) => {
    await nameOperator(transaction, operator, 'person.erase');
    for (const { type, id, accountId } of records)
      await callErasing(transaction, 'begin_person_erasure', type, id, accountId);
  });
  const { events, deliveries } = await readHistory(context, records, onProgress, async (by, rows) =>
    eraseInParts(context, by, rows),
  );
  await waitForWorkers(context, deliveries, onProgress);
  await eraseInParts(context, 'end_erased_deliveries', deliveries);
  await vacuum(tablesOf(events, now()));
  for (const { type, id } of records) await callErasing(store, 'end_person_erasure', type, id);
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
      const accountIds = await store.transaction(async (transaction) => {
        const found = await callErasing(transaction, 'reread_erased_deliveries', ids);
        for (const accountId of found) transaction.notifyAfterCommit(workerOf(accountId));
        return found;
      });
      if (accountIds.length === 0) continue;
      reread.push(...ids.slice(0, 1));
      break;
    }
  // What was erased before has been waited for, unless it is still pending.
  if (reread.length === 0 && deliveries.every(({ isErased }) => isErased)) return;
  onProgress('Waiting for the worker and for requests in flight');
  for (const untilMs = performance.now() + workerMaxMs; ;) {
    const [areReread = true] = await callErasing(store, 'are_erased_deliveries_reread', reread);
    if (areReread) break;
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
  const hasAddress = (other: string | null): boolean => other !== null && addressKey(other) === key;
  const named = record === undefined ? null : toRecord(gidNamespace, record);
  const records: PersonRecord[] = [];
  if (named !== null) {
    const [row] = await callErasing(store, 'person_row', named.type, named.id);
    if (row) records.push({ ...named, accountId: row.accountId });
  } else if (record !== undefined) {
    throw new RefusedError('INVALID', `${record} is neither a Referral nor a TeamMember of this installation.`);
  } else {
    for (const type of ['TeamMember', 'Referral'] as const)
      for (let after: string | null = '0'; after !== null;) {
        const from: string = after;
        const [part] = await unhurried(() => callErasing(store, 'person_addresses', type, from));
        records.push(...(part?.rows.filter((row) => hasAddress(row.address)) ?? []));
        after = part?.readTo ?? null;
      }
  }
  // A removed team member, and an earlier address, are in events only.
  const range = await selectHistoryRange(store, named?.id ?? '1');
  for await (const events of scanPersonEvents(store, range, types, accountId && [accountId], onProgress))
    for (const event of events) {
      const of = recordOf(gidNamespace, event);
      if (of !== null && (named === null ? hasAddress(event.address) : nameOf(of) === nameOf(named))) records.push(of);
    }
  return unique(records).filter((each) => accountId === null || each.accountId === accountId);
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

function unique(records: readonly PersonRecord[]): PersonRecord[] {
  return [...new Map(records.map((record) => [nameOf(record), record])).values()];
}

type EraseRows = (
  by: 'end_erased_deliveries' | 'erase_person_events' | 'mark_erased_deliveries',
  rows: readonly { id: string }[],
) => Promise<void>;

/** Reads all partitions that can have events and deliveries of these records, and erases what it finds. */
async function readHistory(
  { store, gidNamespace }: ActionContext,
  records: readonly PersonRecord[],
  onProgress: OnProgress,
  erase: EraseRows = async () => {},
): Promise<{ events: PersonEvent[]; deliveries: PersonDelivery[] }> {
  const history = { events: new Array<PersonEvent>(), deliveries: new Array<PersonDelivery>() };
  const [oldest] = records.map(({ id }) => id).toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  if (oldest === undefined) return history;
  const names = new Set(records.map(nameOf));
  const accountIds = [...new Set(records.map(({ accountId }) => accountId))];
  // Events come first: once they are erased, they get no new deliveries.
  const ofEvents = await selectHistoryRange(store, oldest);
  for await (const rows of scanPersonEvents(store, ofEvents, types, accountIds, onProgress)) {
    const own = rows.filter((event) => {
      const record = recordOf(gidNamespace, event);
      // The event of an early release is erased, and its deliveries may not be.
      return record === null ? event.isErased : names.has(nameOf(record));
    });
    await erase('erase_person_events', own);
    history.events.push(...own);
  }
  const ofDeliveries = await selectHistoryRange(store, oldest);
  for await (const rows of scanPersonDeliveries(store, ofDeliveries, types, history.events, records, onProgress)) {
    await erase('mark_erased_deliveries', rows);
    history.deliveries.push(...rows);
  }
  return history;
}

async function eraseInParts({ store }: ActionContext, ...[by, rows]: Parameters<EraseRows>): Promise<void> {
  for (const ids of idsInParts(rows)) await unhurried(() => callErasing(store, by, ids));
}

function idsInParts<Id extends string>(rows: readonly { id: Id }[]): Id[][] {
  const ids = rows.map(({ id }) => id);
  return Array.from({ length: Math.ceil(ids.length / idsPerStatement) }, (_, part) =>
    ids.slice(part * idsPerStatement, (part + 1) * idsPerStatement),
  );
}

/** The tables and partitions from which something is deleted. */
function tablesOf(events: readonly PersonEvent[], now: Date): string[] {
  const times = events.map(({ id }) => timeOf(id).getTime());
  const oldest = times.reduce((a, b) => Math.min(a, b), Infinity);
  const days = [...new Set(times.map(dayOf))];
  const partitions = days.flatMap((day) => [`webhook_event_${day}`, `webhook_payload_${day}`]);
  // An exchange belongs to the day on which it was stored.
  for (let ms = oldest; ms < now.getTime() + dayMs; ms += dayMs) partitions.push(`webhook_exchange_${dayOf(ms)}`);
  return ['team_member', 'referral', 'idempotency_key', ...partitions];
}

const dayMs = 86_400_000;

/** As the names of partitions end. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}

async function describeKept(
  context: ActionContext,
  records: readonly PersonRecord[],
  onProgress: OnProgress,
): Promise<KeptOfPerson> {
  const { store, gidNamespace } = context;
  const { events, deliveries } = await readHistory(context, records, onProgress);
  const tables: Record<string, number> = {
    webhook_event: events.filter(({ isErased }) => !isErased).length,
    webhook_delivery: deliveries.filter(({ isErased }) => !isErased).length,
  };
  const add = (table: string, count: number): void => void (tables[table] = (tables[table] ?? 0) + count);
  for (const record of records) {
    const [row] = await callErasing(store, 'person_row', record.type, record.id);
    const { isErased = true, savedResults = 0 } = row ?? {};
    add(record.type === 'TeamMember' ? 'team_member' : 'referral', isErased ? 0 : 1);
    add('idempotency_key', savedResults);
  }
  const ofEvents = idsInParts(events).map((ids) => [ids, []]);
  const ofDeliveries = idsInParts(deliveries).map((ids) => [[], ids]);
  for (const ids of [...ofEvents, ...ofDeliveries]) {
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
