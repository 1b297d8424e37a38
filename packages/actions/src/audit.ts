import { type AccountId, formatAccountGid, type InterfaceName, ofService } from '@deedwire/domain';
import { type InsertedRow, insertRow, type Transaction } from '@deedwire/store';
import {
  type AuditBound,
  type AuditEntryRow,
  type AuditFilter,
  type AuditPosition,
  auditEntryRow,
  claimChanges,
  selectAuditBatch,
  selectAuditEntries,
  selectAuditEntriesAfter,
} from '@deedwire/store/audit';
import { type ActionContext, type Caller, isCaller, type Operator } from './context.ts';

export interface AuditedChange {
  /** `<noun>.<verb>`, the noun and the verb of the operator's command if there is one. */
  action: string;
  /** The identifier of the changed record: a global identifier, a client id or a key id. */
  subject: string;
  /** The account that the record belongs to. Null for an organization. */
  account: { id: AccountId; interfaceName: InterfaceName } | null;
  /** Further details of the change. Must contain no secrets and no personal data. A change with a key also has `keyId`, one from the portal `portal`. */
  details?: object;
}

/**
 * Records who made a change, in the transaction of the change. Not for accounts, API clients, API keys and sessions
 * of the portal, whose entries the database writes: see `nameOperator` and `nameCaller`.
 */
export async function appendAuditEntry(
  transaction: Transaction,
  by: Caller | Operator,
  change: AuditedChange,
): Promise<void> {
  await insertRow(transaction, auditedChange(by, change));
}

/** As `appendAuditEntry`, for a write that only inserts rows. */
export function auditedChange(
  by: Caller | Operator,
  { action, subject, account, details = {} }: AuditedChange,
): InsertedRow {
  const ofPortal = isCaller(by) && by.portal ? { portal: by.portal } : {};
  const ofKey = isCaller(by) && by.keyId !== undefined ? { keyId: by.keyId } : {};
  const actor = isCaller(by)
    ? { actorType: 'CLIENT' as const, actor: by.clientId, address: by.address ?? null }
    : { actorType: 'OPERATOR' as const, actor: by.name, address: by.host };
  return auditEntryRow({
    ...actor,
    requestId: by.requestId ?? null,
    action,
    subject,
    account,
    details: { ...details, ...ofKey, ...ofPortal },
  });
}

/**
 * Names the operator and the command in the entries of the changes that follow in this transaction: those of accounts, API
 * clients, API keys and sessions of the portal. The database writes these entries for every change.
 *
 * @param command `<noun>.<verb>`
 */
export async function nameOperator(transaction: Transaction, operator: Operator, command: string): Promise<void> {
  const { name, host, requestId } = operator;
  await claimChanges(transaction, { actor: name, address: host, requestId, command });
}

/**
 * Names the client, in the entries of links and sessions of its account, and its address and request, in those of API keys. The database
 * writes these entries.
 */
export async function nameCaller(transaction: Transaction, caller: Caller): Promise<void> {
  const { clientId: client, accountId, address = null, requestId = null, portal } = caller;
  await claimChanges(transaction, { client, accountId, address, requestId, portal });
}

/** A change of a record, whose details are in the form that the database stores. Parsing them would round large numbers. */
export interface StoredAuditEntry extends Omit<AuditEntryRow, 'accountId' | 'interfaceName'> {
  /** The global identifier of the account that the record belongs to. Null for an organization. */
  accountId: string | null;
}

export interface AuditEntry extends Omit<StoredAuditEntry, 'detailsJson'> {
  details: object;
}

const entriesPerStatement = 5_000;

/**
 * The latest entries of the audit log, newest first. Of a client or a key, it reads all entries of the time until there are `limit`.
 *
 * @param onSearched called with the number of entries that were read
 */
export async function listAuditEntries(
  context: ActionContext,
  { limit, onSearched, ...filter }: Partial<AuditFilter> & { limit: number; onSearched?: (entries: number) => void },
): Promise<AuditEntry[]> {
  const { clientId = null, keyId = null, since = null, until = null } = filter;
  const batch = clientId === null && keyId === null ? Math.min(limit, entriesPerStatement) : entriesPerStatement;
  const rows: AuditEntryRow[] = [];
  let position: AuditBound = { at: until, number: null };
  for (let searched = batch; rows.length < limit; searched += batch) {
    const last: AuditPosition | null = await selectAuditBatch(context.store, position, since, batch);
    if (last === null) break;
    rows.push(...(await selectAuditEntries(context.store, position, last, { clientId, keyId })));
    position = last;
    onSearched?.(searched);
  }
  return rows.slice(0, limit).map((row) => {
    const { detailsJson, ...entry } = toStoredEntry(context, row);
    return { ...entry, details: JSON.parse(detailsJson) };
  });
}

const pageSize = 2_000;

/** All entries of the audit log, oldest first, read in pages. It can miss entries that are committed meanwhile. */
export async function* readAuditEntries(context: ActionContext): AsyncGenerator<StoredAuditEntry> {
  let after: AuditPosition | null = null;
  for (;;) {
    const rows: AuditEntryRow[] = await selectAuditEntriesAfter(context.store, after, pageSize);
    for (const row of rows) yield toStoredEntry(context, row);
    after = rows.at(-1) ?? null;
    if (rows.length < pageSize) return;
  }
}

/** The types of the subjects that the database names. It knows no namespace, and `initcap` makes the type of an account. */
const subjectTypes = ofService(
  ({ interfaces }) =>
    new Map([
      ...Object.entries(interfaces).map(
        ([name, { account }]) => [name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()), account] as const,
      ),
      ...Object.values(interfaces).flatMap(({ records }) => records.map((type) => [type, type] as const)),
      ['PortalSession', 'PortalSession'],
      ['WebhookListener', 'WebhookListener'],
    ]),
);

function toStoredEntry(context: ActionContext, row: AuditEntryRow): StoredAuditEntry {
  const types = subjectTypes(context.service);
  const { accountId, interfaceName, subject, ...entry } = row;
  return {
    ...entry,
    subject: subject.replace(/^([\w-]+)(?=\/\d+$)/, (named: string) =>
      types.has(named) ? `gid://${context.gidNamespace}/${types.get(named)}` : named,
    ),
    accountId:
      accountId === null || interfaceName === null ? null : formatAccountGid(context, interfaceName, accountId),
  };
}
