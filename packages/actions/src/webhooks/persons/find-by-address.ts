import { type AccountId, addressKey, formatGid, timeOf } from '@deedwire/core';
import { type AuditBound, type AuditPosition, selectAuditBatch, selectRemovedRecords } from '@deedwire/store/audit';
import { callErasing, type PersonRecord } from '@deedwire/store/person-erasures';
import { type OnProgress, unhurried } from '../../kernel/unhurried.ts';
import { type PersonContext, scanPersonEvents } from './history.ts';
import { nameOf, type PersonHistory, recordOf } from './person-history.ts';

export interface FoundPerson {
  records: PersonRecord[];
  /** Records that have the address in events only, which do not suffice: an interface can store an event about any record. */
  namedByEvents: PersonRecord[];
}

/**
 * The records that have an address. A removed record has it if the audit log says that an operator has removed it, and if all its
 * events that are kept agree on the account and the address. A record that has no row here, because the application gave its id, has it if
 * all its events that are kept agree on the address.
 *
 * @param unreadable gets what cannot be read of events
 */
export async function findByAddress(
  context: PersonContext,
  address: string,
  unreadable: PersonHistory['unreadable'],
  onProgress: OnProgress,
): Promise<FoundPerson> {
  const { store, registry } = context;
  const key = addressKey(address);
  const records = new Map<string, PersonRecord>();
  for (const type of registry.records.keys())
    for (let after: string | null = '0'; after !== null;) {
      const from: string = after;
      const [part] = await unhurried(() => callErasing(store, 'person_addresses', type, from));
      for (const { address: own, ...row } of part?.rows ?? []) {
        const record = { ...row, key: null };
        if (addressKey(own) === key) records.set(nameOf(record), record);
      }
      after = part?.readTo ?? null;
    }
  // A removed record, and an earlier address, are in events only.
  const named = new Map<string, PersonRecord>();
  let since = new Date();
  await scanPersonEvents(context, { from: '1', recordIds: [], key }, onProgress, (event) => {
    if (event.problem !== null) unreadable.set(event.id, event.problem);
    const record = recordOf(registry, event);
    if (record === null || event.address === null || addressKey(event.address) !== key) return;
    if (record.key === null && BigInt(event.id) < BigInt(record.id))
      return void unreadable.set(event.id, 'it is older than its record');
    // The entry of the removal is as old as its event, which is kept if any event of the record is.
    if (named.size === 0) since = new Date(timeOf(event.id).getTime() - dayMs);
    named.set(nameOf(record), record);
  });
  const withRows = [...named.values()].filter((each) => each.key === null);
  const accountIds = await accountsOf(context, withRows);
  const isGone = withRows.some((each) => !accountIds.has(placeOf(each)));
  const hasBeenRemoved = isGone ? await readRemovals(context, since, onProgress) : () => false;
  const ofEventsOnly = new Map([...named].filter(([, each]) => each.key !== null));
  const doubtful = new Map<string, PersonRecord>();
  for (const each of withRows) {
    const found = { ...each, accountId: accountIds.get(placeOf(each)) ?? each.accountId };
    if (records.has(nameOf(found))) continue;
    (!accountIds.has(placeOf(each)) && hasBeenRemoved(each) ? ofEventsOnly : doubtful).set(nameOf(found), found);
  }
  for (const each of await disagreeing(context, ofEventsOnly, key, onProgress)) doubtful.set(nameOf(each), each);
  for (const each of ofEventsOnly.values()) if (!doubtful.has(nameOf(each))) records.set(nameOf(each), each);
  return { records: [...records.values()], namedByEvents: [...doubtful.values()] };
}

const dayMs = 86_400_000;
const recordsPerStatement = 1_000;
const entriesPerStatement = 5_000;

const placeOf = ({ type, id }: Pick<PersonRecord, 'id' | 'type'>): string => `${type} ${id}`;

/** The accounts of the records whose rows exist, by their types and ids. */
async function accountsOf({ store }: PersonContext, records: readonly PersonRecord[]): Promise<Map<string, AccountId>> {
  const accountIds = new Map<string, AccountId>();
  for (const [type, ofType] of Map.groupBy(records, (each) => each.type))
    for (let start = 0; start < ofType.length; start += recordsPerStatement) {
      const ids = ofType.slice(start, start + recordsPerStatement).map(({ id }) => id);
      const [rows = []] = await unhurried(() => callErasing(store, 'person_accounts', type, ids));
      for (const { id, accountId } of rows) accountIds.set(placeOf({ type, id }), accountId);
    }
  return accountIds;
}

/** Tells whether an operator has removed a record from its account since a time. */
async function readRemovals(
  { store, registry, gidNamespace }: PersonContext,
  since: Date,
  onProgress: OnProgress,
): Promise<(record: PersonRecord) => boolean> {
  const names = new Set<string>();
  let position: AuditBound = { at: null, number: null };
  for (let read = 0; ; read += entriesPerStatement) {
    const before = position;
    const last: AuditPosition | null = await unhurried(() =>
      selectAuditBatch(store, before, since, entriesPerStatement),
    );
    if (last === null) break;
    for (const { subject, accountId } of await unhurried(() =>
      selectRemovedRecords(store, before, last, registry.removals),
    ))
      names.add(`${subject} ${accountId}`);
    position = last;
    onProgress(`Read ${read.toLocaleString('en')} entries of the audit log`);
  }
  return ({ type, id, accountId }) => names.has(`${formatGid(gidNamespace, type, id)} ${accountId}`);
}

/** Those of which an event is kept that has another address, or another account although an id of ours is of one account. */
async function disagreeing(
  context: PersonContext,
  ofEventsOnly: ReadonlyMap<string, PersonRecord>,
  key: string,
  onProgress: OnProgress,
): Promise<PersonRecord[]> {
  const found: PersonRecord[] = [];
  if (ofEventsOnly.size === 0) return found;
  const byId = Map.groupBy(ofEventsOnly.values(), ({ id }) => id);
  await scanPersonEvents(context, { from: '1', recordIds: [...byId.keys()], key }, onProgress, (event) => {
    const record = recordOf(context.registry, event);
    if (record === null || event.isErased) return;
    const hasAddress = event.address !== null && addressKey(event.address) === key;
    const couldHave = context.registry.events.get(event.type)?.hasAddress === true;
    const disagrees = (each: PersonRecord): boolean =>
      each.key === null
        ? each.type === record.type && !(hasAddress && each.accountId === record.accountId)
        : nameOf(each) === nameOf(record) && couldHave && !hasAddress;
    found.push(...(byId.get(record.id) ?? []).filter(disagrees));
  });
  return found;
}
