import { setTimeout as sleep } from 'node:timers/promises';
import { formatGid, idAt, placeholderOf, type PersonRecordType, timeOf } from '@deedwire/domain';
import { AccountAwayError, PublicationError, type Transaction, vacuumTables } from '@deedwire/store';
import { sendingMs } from '@deedwire/store/cell-splits';
import { callErasing, type PersonRecord, selectOpenErasures } from '@deedwire/store/person-erasures';
import { selectTime } from '@deedwire/store/time';
import { workerOf } from '@deedwire/webhooks/outbox';
import type { DeliveryId } from '@deedwire/webhooks/tables';
import { nameOperator } from './audit.ts';
import type { ActionContext, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';
import { accountGidOf, findPerson, type PersonInput } from './find-person.ts';
import { type OnProgress, unhurried } from './unhurried.ts';
import type { PersonDelivery } from './webhooks/persons/history.ts';
import { nameOf, newHistory, type PersonHistory, readHistory } from './webhooks/persons/person-history.ts';

/** A record and its account, by global identifiers. */
type PersonRecordIds = Record<'accountId' | 'recordId', string>;

/** What is kept of a person. */
export interface KeptOfPerson {
  records: PersonRecordIds[];
  /** The number of rows in each table that has any. */
  tables: { table: string; rows: number }[];
  /** Records of any person whose erasure was interrupted, or runs, in accounts at home. The next erasure finishes these too. */
  unfinished: PersonRecordIds[];
  /** Records that have the address in events only, and are not erased. `--record` erases one. */
  namedByEvents: PersonRecordIds[];
  /** Events that are not erased, of which something cannot be read, so that they may be about the person, and why. */
  unreadable: Record<'eventId' | 'reason', string>[];
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

/**
 * Erases a person from the records, from what events keep of them, and from the results of requests, and finishes erasures that were
 * interrupted. Does nothing if nothing is kept.
 *
 * @returns the tables that the login of `directUrl` may not vacuum
 * @throws {RefusedError} as `findPerson` does, `INVALID` if several accounts have the address and `accountId` names none, `CONFLICT` if
 * another team member has the placeholder, or if something was written about the person meanwhile. Nothing is erased, unless the message
 * says that the erasure is not finished.
 */
export async function erasePerson(
  context: OperatorContext,
  input: PersonInput,
  options: ErasePersonOptions,
): Promise<string[]> {
  const { store } = context;
  const { isDryRun, onProgress, onFound } = options;
  const startedAt = await selectTime(store);
  const history = newHistory();
  const unfinished = await selectOpenErasures(store);
  const { unreadable } = history;
  const { records: found, namedByEvents } = await findPerson(context, input, unfinished, unreadable, onProgress);
  await readHistory(context, found, history, onProgress);
  for (const { id } of history.events) unreadable.delete(id);
  const tables = await countKept(context, found, history);
  const describe = (records: readonly PersonRecord[]) => records.map((record) => idsOf(context, record));
  onFound({
    records: describe(found),
    tables,
    unfinished: describe(unfinished),
    namedByEvents: describe(namedByEvents),
    unreadable: Array.from(unreadable, ([id, reason]) => ({
      eventId: formatGid(context.gidNamespace, 'WebhookEvent', id),
      reason,
    })),
  });
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
    const remedy = error instanceof PublicationError ? 'Repair the cause. Then run' : 'Run';
    throw new Error(`The erasure is not finished. ${remedy} the command again${where}.`, { cause });
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
    const message = `Another team member has ${placeholderOf(id, 'address')}, the placeholder of ${type} ${id}.`;
    throw new RefusedError('CONFLICT', `${message} Change this address, and run the command again.`);
  });
}

interface BegunErasure {
  /** The erasure of the first one has begun. */
  records: PersonRecord[];
  history: PersonHistory;
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
  const later = newHistory();
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

function* idsInParts<Id extends string>(rows: readonly { id: Id }[]): Generator<Id[]> {
  const ids = [...new Set(rows.map(({ id }) => id))];
  while (ids.length > 0) yield ids.splice(0, idsPerStatement);
}

const dayMs = 86_400_000;

function daysOf(rows: PersonHistory['deliveries' | 'events']): Set<number> {
  return new Set(rows.map(({ id }) => Math.floor(timeOf(id).getTime() / dayMs)));
}

/** The tables and partitions from which something is deleted. */
function tablesOf({ events, deliveries }: PersonHistory, now: Date): string[] {
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

function keptOf(rows: PersonHistory['deliveries' | 'events']): number {
  return rows.filter(({ isErased }) => !isErased).length;
}

/** The tables that have rows of these records, with their number. */
async function countKept(
  { store }: ActionContext,
  records: readonly PersonRecord[],
  { events, deliveries }: PersonHistory,
): Promise<KeptOfPerson['tables']> {
  const tables: Record<string, number> = {};
  const add = (counts: Record<string, number>): void => {
    for (const [table, count] of Object.entries(counts)) tables[table] = (tables[table] ?? 0) + count;
  };
  add({ webhook_event: keptOf(events), webhook_delivery: keptOf(deliveries) });
  for (const { type, id, accountId } of records) {
    const [row] = await unhurried(() => callErasing(store, 'person_row', type, id));
    const table = type === 'TeamMember' ? 'team_member' : 'referral';
    if (row?.accountId === accountId) add({ [table]: Number(!row.isErased), idempotency_key: row.savedResults });
  }
  const addOf = async (...ids: readonly (readonly string[])[]): Promise<void> => {
    for (const counts of await unhurried(() => callErasing(store, 'count_kept_of_person', ...ids))) add(counts);
  };
  for (const ids of idsInParts(events)) await addOf(ids, []);
  for (const ids of idsInParts(deliveries)) await addOf([], ids);
  return Object.entries(tables).flatMap(([table, count]) => (count > 0 ? [{ table, rows: count }] : []));
}

function idsOf(context: ActionContext, record: PersonRecord): PersonRecordIds {
  const { type, id } = record;
  return {
    recordId: formatGid<PersonRecordType>(context.gidNamespace, type, id),
    accountId: accountGidOf(context, record),
  };
}
