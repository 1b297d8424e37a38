import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { Database, Transaction } from './store.ts';

/** An entry of the audit log, without the columns that the database fills. */
export interface NewAuditEntry {
  actorType: 'OPERATOR' | 'CLIENT';
  /** The name of the operator, or the id of the API client. */
  actor: string;
  /** The machine of the operator, or the address of the client. Null if it is not known. */
  address: string | null;
  requestId: string | null;
  /** For example `credential.issue`. */
  action: string;
  /** The identifier of the changed record. */
  subject: string;
  /** The account that the record belongs to. Null for an organization. */
  account: { id: AccountId; interfaceName: InterfaceName } | null;
  /** Contains no secrets. */
  details: object;
}

export interface AuditEntryRow extends Omit<NewAuditEntry, 'account'> {
  at: Date;
  /** The login of the database session. */
  login: string;
  accountId: AccountId | null;
  interfaceName: InterfaceName | null;
}

export async function insertAuditEntry(transaction: Transaction, entry: NewAuditEntry): Promise<void> {
  const statement = {
    name: 'insert-audit-entry',
    text: `
      insert into audit_entry (actor_type, actor, address, request_id, action, subject, account_id, interface, details)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  };
  await transaction.query(statement, [
    entry.actorType,
    entry.actor,
    entry.address,
    entry.requestId,
    entry.action,
    entry.subject,
    entry.account?.id ?? null,
    entry.account?.interfaceName ?? null,
    JSON.stringify(entry.details),
  ]);
}

/** Newest first. Served by the primary keys of the partitions. */
export async function selectAuditEntries(database: Database, limit: number): Promise<AuditEntryRow[]> {
  const statement = {
    name: 'select-audit-entries',
    text: `
      select at, login, actor_type as "actorType", actor, address, request_id as "requestId", action, subject,
        account_id as "accountId", interface as "interfaceName", details
      from audit_entry
      order by at desc, number desc
      limit $1`,
  };
  return database.query<AuditEntryRow>(statement, [limit]);
}
