import { formatGid, gid } from '@deedwire/core';
import { AccountAwayError, PublicationError } from '@deedwire/store';
import { type PersonRecord, selectOpenErasures } from '@deedwire/store/person-erasures';
import { selectPersonRegistry } from '@deedwire/store/person-registry';
import { selectTime } from '@deedwire/store/time';
import type { OperatorContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import type { OnProgress } from '../kernel/unhurried.ts';
import { countKept, type KeptRows } from '../webhooks/persons/kept-of-person.ts';
import { isOneOf, newHistory, type PersonHistory, readHistory } from '../webhooks/persons/person-history.ts';
import { contactAccountOf, eraseContacts, findContacts } from './contacts-of-person.ts';
import {
  beginErasing,
  eraseRecords,
  type EraseRecordsOptions,
  type ErasingContext,
  type OpenErasure,
} from './erase-records.ts';
import { accountGidOf, findPerson, type PersonInput } from './find-person.ts';

/** A record and its account, by global identifiers. */
type PersonRecordIds = Record<'accountId' | 'recordId', string>;

/** What is kept of a person. */
export interface KeptOfPerson {
  records: PersonRecordIds[];
  /** The number of rows in each table that has any. */
  tables: KeptRows[];
  /** The accounts that have the address among their contact addresses. */
  contactAccountIds: string[];
  /** Records of any person whose erasure was interrupted, or runs, in accounts at home. The next erasure finishes these too. */
  unfinished: PersonRecordIds[];
  /** Records that have the address in events only, and are not erased. `--record` erases one. */
  namedByEvents: PersonRecordIds[];
  /** Events that are not erased, of which something cannot be read, so that they may be about the person, and why. */
  unreadable: Record<'eventId' | 'reason', string>[];
}

export interface ErasePersonOptions {
  /** Only finds what is kept. */
  isDryRun: boolean;
  /** A direct connection, for VACUUM. */
  directUrl: string;
  onProgress: OnProgress;
  /** Called before anything is erased. */
  onFound: (kept: KeptOfPerson) => void;
}

export interface ErasedPerson {
  /** The tables that the login of `directUrl` may not vacuum. */
  unvacuumed: string[];
  /** The erasures of others that were interrupted and are not finished: the record, and why. */
  left: string[];
}

/**
 * Erases a person from the records, from what events keep of them, from the results of requests, and from contact addresses. Then
 * finishes erasures that were interrupted, which keep none of these from being finished. Does nothing if nothing is kept.
 *
 * @throws {RefusedError} as `findPerson` does, `INVALID` if several accounts have the address and `accountId` names none, `CONFLICT` if
 * another team member has the placeholder, if something is written about the person all the time, or if `address` finds no record and an
 * interrupted erasure is not finished. Nothing is erased, unless the message says that the erasure is not finished.
 */
export async function erasePerson(
  { store, ...others }: OperatorContext,
  input: PersonInput,
  options: ErasePersonOptions,
): Promise<ErasedPerson> {
  const context = { store, ...others, registry: await selectPersonRegistry(store) };
  const { isDryRun, onProgress, onFound } = options;
  const startedAt = await selectTime(store);
  const history = newHistory();
  const unfinished = await selectOpenErasures(store);
  const { unreadable } = history;
  const { records: found, namedByEvents } = await findPerson(context, input, unfinished, unreadable, onProgress);
  await readHistory(context, found, history, onProgress);
  for (const { id } of history.events) unreadable.delete(id);
  const tables = await countKept(context, found, history);
  const contacts = await findContacts(context, input);
  if (contacts.length > 0) tables.push({ table: 'contact_email', rows: contacts.length });
  const describe = (records: readonly PersonRecord[]) => records.map((record) => idsOf(context, record));
  onFound({
    records: describe(found),
    tables,
    contactAccountIds: contacts.map((contact) => contactAccountOf(context, contact)),
    unfinished: describe(unfinished),
    namedByEvents: describe(namedByEvents),
    unreadable: Array.from(unreadable, ([id, reason]) => ({
      eventId: formatGid(context.gidNamespace, 'WebhookEvent', id),
      reason,
    })),
  });
  if (isDryRun) return { unvacuumed: [], left: [] };
  if (new Set([...found, ...contacts].map(({ accountId }) => accountId)).size > 1)
    throw new RefusedError('INVALID', 'Several accounts have this address, so nothing was erased. Add --account.');
  // Its address no longer finds a record whose erasure has begun.
  const own = tables.length > 0 ? found : found.filter(isOneOf(unfinished));
  const isOwn = isOneOf(own);
  const unvacuumed = new Set<string>();
  const erasing = { ...options, startedAt, unvacuumed };
  const { address = '' } = input;
  for (const table of await eraseContacts(context, contacts, { ...options, address })) unvacuumed.add(table);
  await eraseOwn(context, own, history, erasing);
  const left: string[] = [];
  const ofOthers = unfinished.filter((record) => !isOwn(record));
  // An account that is frozen, or whose login stores events all the time, keeps none of the other accounts from being finished.
  for (const ofAccount of Map.groupBy(ofOthers, ({ accountId }) => accountId).values())
    left.push(...(await finishErasures(context, ofAccount, erasing)));
  // Each of these can be of the person whose address was found nowhere.
  if (found.length === 0 && left.length > 0) throw new RefusedError('CONFLICT', left.join('\n'));
  return { unvacuumed: [...unvacuumed], left };
}

async function eraseOwn(
  context: ErasingContext,
  [first, ...further]: readonly PersonRecord[],
  history: PersonHistory,
  options: EraseRecordsOptions,
): Promise<void> {
  if (first === undefined) return;
  await beginErasing(context, first);
  const finish = async (): Promise<OpenErasure[]> => {
    for (const record of further) await beginErasing(context, record);
    return eraseRecords(context, [first, ...further], history, options);
  };
  const open = await finish().catch((error: unknown) => {
    if (error instanceof RefusedError)
      throw new RefusedError(error.code, `The erasure is not finished. ${error.message}`);
    // The message of the first one says that nothing was changed.
    const [cause, where] =
      error instanceof AccountAwayError ? [error.cause, ' where the account is at home'] : [error, ''];
    const remedy = error instanceof PublicationError ? 'Repair the cause. Then run' : 'Run';
    throw new Error(`The erasure is not finished. ${remedy} the command again${where}.`, { cause });
  });
  if (open.length === 0) return;
  const written = open.slice(0, recordsNamed).map((each) => describeOpen(context, each));
  if (open.length > recordsNamed) written.push(`So were ${open.length - recordsNamed} more records.`);
  throw new RefusedError('CONFLICT', `The erasure is not finished. ${written.join(' ')}`);
}

/**
 * Finishes erasures of one account that were interrupted.
 *
 * @returns for each that is not finished, its record and why
 */
async function finishErasures(
  context: ErasingContext,
  records: readonly PersonRecord[],
  options: EraseRecordsOptions,
): Promise<string[]> {
  const left: string[] = [];
  const add = (record: PersonRecord, reason: string): void => {
    const { recordId, accountId } = idsOf(context, record);
    left.push(`The erasure of ${recordId} of ${accountId}, which was interrupted, is not finished. ${reason}`);
  };
  const addAll = (of: readonly PersonRecord[], error: unknown): void => {
    // Its own message says that nothing was changed.
    const reason = error instanceof AccountAwayError ? error.cause : error;
    for (const record of of) add(record, reason instanceof Error ? reason.message : String(reason));
  };
  const begun: PersonRecord[] = [];
  for (const record of records)
    try {
      await beginErasing(context, record);
      begun.push(record);
    } catch (error) {
      addAll([record], error);
    }
  try {
    const history = newHistory();
    await readHistory(context, begun, history, options.onProgress);
    for (const each of await eraseRecords(context, begun, history, options))
      add(each.record, describeOpen(context, each));
  } catch (error) {
    addAll(begun, error);
  }
  return left;
}

const recordsNamed = 20;
const eventsNamed = 3;

function describeOpen(context: ErasingContext, { record, written, eventIds }: OpenErasure): string {
  const { recordId, accountId } = idsOf(context, record);
  const rows = written.map(({ table, rows: count }) => `${table} (${count})`).join(', ');
  const events = eventIds.slice(0, eventsNamed).map((id) => formatGid(context.gidNamespace, 'WebhookEvent', id));
  const named = events.length > 0 ? `, among them the event ${events.join(', ')}` : '';
  return `What was written about ${recordId} of ${accountId} meanwhile is kept: ${rows}${named}. Run the command again with --record ${recordId}.`;
}

function idsOf(context: ErasingContext, record: PersonRecord): PersonRecordIds {
  const { type, id, key } = record;
  return {
    recordId: key === null ? formatGid<string>(context.gidNamespace, type, id) : gid(context.gidNamespace, type, key),
    accountId: accountGidOf(context, record),
  };
}
