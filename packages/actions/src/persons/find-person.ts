import { type AccountId, formatGid, readEventRecord, withArticles } from '@deedwire/core';
import { callErasing, type PersonRecord } from '@deedwire/store/person-erasures';
import { findAccount } from '../accounts/accounts.ts';
import { RefusedError } from '../kernel/errors.ts';
import type { OnProgress } from '../kernel/unhurried.ts';
import { findByAddress, type FoundPerson } from '../webhooks/persons/find-by-address.ts';
import type { PersonContext } from '../webhooks/persons/history.ts';
import {
  finderOf,
  nameOf,
  newHistory,
  type PersonHistory,
  readHistory,
  recordOf,
} from '../webhooks/persons/person-history.ts';

/**
 * Whom to erase: the person of a record, by its global identifier, or of all records with an address. Of one account if it is set, by its
 * global identifier.
 */
export type PersonInput = Record<'accountId' | 'address' | 'record', string | undefined>;

/**
 * The record that is named, or the records that have an address.
 *
 * @param unreadable gets what cannot be read of events
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist, or neither the record nor an event of it, `INVALID` if `record` is
 * of another type or account, or if its row is gone and events of several accounts name it
 */
export async function findPerson(
  context: PersonContext,
  { address = '', record, accountId: accountGid }: PersonInput,
  unfinished: readonly PersonRecord[],
  unreadable: PersonHistory['unreadable'],
  onProgress: OnProgress,
): Promise<FoundPerson> {
  const accountId = accountGid === undefined ? null : (await findAccount(context, null, accountGid)).id;
  if (record === undefined) {
    const found = await findByAddress(context, address, unreadable, onProgress);
    const isWanted = (each: PersonRecord): boolean => accountId === null || each.accountId === accountId;
    return { records: found.records.filter(isWanted), namedByEvents: found.namedByEvents.filter(isWanted) };
  }
  return { records: [await findRecord(context, record, accountId, unfinished, onProgress)], namedByEvents: [] };
}

async function findRecord(
  context: PersonContext,
  record: string,
  accountId: AccountId | null,
  unfinished: readonly PersonRecord[],
  onProgress: OnProgress,
): Promise<PersonRecord> {
  const { store, registry } = context;
  const types = [...registry.records.keys()];
  const named = types.flatMap((type) => {
    const own = readEventRecord(context, type, record);
    return own === null ? [] : [{ type, ...own, accountId }];
  });
  if (named.length === 0)
    throw new RefusedError(
      'INVALID',
      `${record} is not the identifier of ${withArticles(types)} of this installation.`,
    );
  for (const each of named) {
    const [row] = await callErasing(store, 'person_row', each.type, each.id);
    if (!row) continue;
    const own = { ...each, accountId: row.accountId };
    if (accountId === null || accountId === row.accountId) return own;
    throw new RefusedError(
      'INVALID',
      `${record} is of the account ${accountGidOf(context, own)}. Pass this one, or none.`,
    );
  }
  // Of a removed record, events are left, and deliveries for a week longer.
  const left = newHistory();
  await readHistory(context, named, left, onProgress);
  const findNamed = finderOf(named);
  const kept = [...left.events, ...left.deliveries].flatMap((each) => recordOf(registry, each) ?? []);
  const removed = new Map<string, PersonRecord>();
  for (const each of [...kept, ...unfinished]) {
    const sought = findNamed(each);
    const found = sought && { ...sought, accountId: each.accountId };
    if (found !== undefined) removed.set(nameOf(found), found);
  }
  const [first, ...others] = removed.values();
  if (first === undefined) throw new RefusedError('NOT_FOUND', `${record} does not exist, and no event of it is kept.`);
  if (others.length > 0) {
    const accounts = [first, ...others].map((each) => accountGidOf(context, each)).join(', ');
    throw new RefusedError(
      'INVALID',
      `The row of ${record} is gone, and what is kept of it belongs to several accounts: ${accounts}. Add --account.`,
    );
  }
  return first;
}

export function accountGidOf({ gidNamespace, registry }: PersonContext, { type, accountId }: PersonRecord): string {
  const accountType = registry.records.get(type)?.accountType;
  if (accountType === undefined) throw new TypeError(`The database knows no persons of the record ${type}.`);
  return formatGid<string>(gidNamespace, accountType, accountId);
}
