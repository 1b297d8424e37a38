import type { AccountId, InterfaceName } from '@deedwire/core';
import { type InsertedRow, insertRow, type Transaction } from '@deedwire/store';
import { auditEntryRow, claimChanges } from '@deedwire/store/audit';
import { type Caller, isCaller, type Operator } from './context.ts';

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
