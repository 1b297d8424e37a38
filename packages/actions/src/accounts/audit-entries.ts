import { accountTypesOf, formatAccountGid, ofService } from '@deedwire/core';
import {
  type AuditBound,
  type AuditEntryRow,
  type AuditPosition,
  selectAuditBatch,
  selectAuditEntries,
  selectAuditEntriesAfter,
} from '@deedwire/store/audit';
import type { ActionContext } from '../kernel/context.ts';
import { findAccount } from './accounts.ts';

/** A change of a record, whose details are in the form that the database stores. Parsing them would round large numbers. */
export interface StoredAuditEntry extends Omit<AuditEntryRow, 'accountId' | 'interfaceName'> {
  /** The global identifier of the account that the record belongs to. Null for an organization. */
  accountId: string | null;
}

export interface AuditEntry extends Omit<StoredAuditEntry, 'detailsJson'> {
  details: object;
}

const entriesPerStatement = 5_000;

/** Which entries to list. Undefined: all of them. */
interface AuditQuery {
  clientId?: string | undefined;
  keyId?: string | undefined;
  /** The global identifier of an account or its number. */
  account?: string | undefined;
  /** A client id, a key id, or the end of a global identifier: `WebhookSubscription/4711` or `4711`. */
  subject?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  limit: number;
  /** Called with the number of entries that were read. */
  onSearched?: (entries: number) => void;
}

/**
 * The latest entries of the audit log, newest first. Of a client, a key, an account or a record, it reads all entries of the time until
 * there are `limit`.
 *
 * @throws {RefusedError} `NOT_FOUND` if there is no such account
 */
export async function listAuditEntries(
  context: ActionContext,
  { limit, onSearched, account, subject, ...query }: AuditQuery,
): Promise<AuditEntry[]> {
  const { clientId = null, keyId = null, since = null, until = null } = query;
  const filter = {
    clientId,
    keyId,
    accountId: account === undefined ? null : (await findAccount(context, null, account)).id,
    subject: subject ?? null,
  };
  const isFiltered = Object.values(filter).some((value) => value !== null);
  const batch = isFiltered ? entriesPerStatement : Math.min(limit, entriesPerStatement);
  const rows: AuditEntryRow[] = [];
  let position: AuditBound = { at: until, number: null };
  for (let searched = batch; rows.length < limit; searched += batch) {
    const last: AuditPosition | null = await selectAuditBatch(context.store, position, since, batch);
    if (last === null) break;
    rows.push(...(await selectAuditEntries(context.store, position, last, filter)));
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

/** The types of the subjects that the database names. It knows no namespace. */
const subjectTypes = ofService(
  (service) =>
    new Set([
      ...accountTypesOf(service),
      ...Object.values(service.interfaces).flatMap(({ records }) => records),
      'PortalSession',
      'WebhookListener',
    ]),
);

function toStoredEntry(context: ActionContext, row: AuditEntryRow): StoredAuditEntry {
  const types = subjectTypes(context.service);
  const { accountId, interfaceName, subject, ...entry } = row;
  return {
    ...entry,
    subject: subject.replace(/^\w+(?=\/[\w.~%-]+$)/, (named: string) =>
      types.has(named) ? `gid://${context.gidNamespace}/${named}` : named,
    ),
    accountId:
      accountId === null || interfaceName === null ? null : formatAccountGid(context, interfaceName, accountId),
  };
}
