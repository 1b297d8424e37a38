import { type AccountId, formatAccountGid, type InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { insertAuditEntry, selectAuditEntries } from '@deedwire/store/audit';
import type { ActionContext, Caller, Operator } from './context.ts';

export interface AuditedChange {
  /** `<noun>.<verb>`, the noun and the verb of the operator's command if there is one. */
  action: string;
  /** The identifier of the changed record: a global identifier, a client id or a key id. */
  subject: string;
  /** The account that the record belongs to. Null for an organization. */
  account: { id: AccountId; interfaceName: InterfaceName } | null;
  /** Further details of the change. Must contain no secrets and no personal data. */
  details?: object;
}

/** Records who made a change, in the transaction of the change. */
export async function appendAuditEntry(
  transaction: Transaction,
  by: Caller | Operator,
  { action, subject, account, details = {} }: AuditedChange,
): Promise<void> {
  const actor =
    'clientId' in by
      ? { actorType: 'CLIENT' as const, actor: by.clientId, address: by.address ?? null }
      : { actorType: 'OPERATOR' as const, actor: by.name, address: by.host };
  await insertAuditEntry(transaction, { ...actor, requestId: by.requestId ?? null, action, subject, account, details });
}

/** A change that an operator or an API client made. */
export interface AuditEntry {
  at: Date;
  actorType: 'OPERATOR' | 'CLIENT';
  /** The name of the operator, or the id of the API client. */
  actor: string;
  /** The database login that wrote the entry. */
  login: string;
  /** The machine of the operator, or the address of the client. Null if it is not known. */
  address: string | null;
  requestId: string | null;
  /** For example `credential.issue`. */
  action: string;
  /** The identifier of the changed record. */
  subject: string;
  /** The global identifier of the lender or partner that the record belongs to. Null for an organization. */
  accountId: string | null;
  details: object;
}

/** The latest entries of the audit log, newest first. */
export async function listAuditEntries(context: ActionContext, input: { limit: number }): Promise<AuditEntry[]> {
  const rows = await selectAuditEntries(context.store, input.limit);
  return rows.map(({ accountId, interfaceName, ...entry }) => ({
    ...entry,
    accountId:
      accountId === null || interfaceName === null
        ? null
        : formatAccountGid(context.gidNamespace, interfaceName, accountId),
  }));
}
