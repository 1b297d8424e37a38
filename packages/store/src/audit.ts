import type { AccountId, InterfaceName } from '@deedwire/domain';
import { type Database, type Transaction, sql } from './database.ts';
import type { InsertedRow } from './shared-writes/row-set.ts';

/** An entry of the audit log that an app writes, without the columns that the database fills. */
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

/** The place of an entry in the audit log. */
export interface AuditPosition {
  at: Date;
  /** The order of entries of the same time. */
  number: string;
}

export interface AuditEntryRow extends AuditPosition {
  /** The database login that made the change. */
  login: string;
  /** Null if the session named neither an operator nor a client. */
  actorType: 'OPERATOR' | 'CLIENT' | null;
  /** The name of the operator, or the id of the API client. Null like `actorType`. */
  actor: string | null;
  /** The machine of the operator, or the address of the client. Null if it is not known. */
  address: string | null;
  requestId: string | null;
  /**
   * The transaction in which the database itself wrote the entry. Then the login, the action, the subject and the values are
   * facts. Null if an app wrote the entry.
   */
  transactionId: string | null;
  /** For example `credential.issue`. */
  action: string;
  /**
   * The identifier of the changed record: a global identifier, a client id or a key id. In a row, that of an account that the database
   * wrote is `Lender/<id>`, as `initcap` writes the interface.
   */
  subject: string;
  accountId: AccountId | null;
  interfaceName: InterfaceName | null;
  /** As PostgreSQL prints it. */
  detailsJson: string;
}

const insertAuditEntries = sql('insert-audit-entries')`
    insert into audit_entry (actor_type, actor, address, request_id, action, subject, account_id, interface, details)
    select actor_type, actor, address, request_id, action, subject, account_id, interface, details
    from unnest(
      $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::interface_name[], $9::jsonb[]
    ) as e (actor_type, actor, address, request_id, action, subject, account_id, interface, details)`;

export function auditEntryRow(entry: NewAuditEntry): InsertedRow {
  const { actorType, actor, address, requestId, action, subject, account, details } = entry;
  const { id = null, interfaceName = null } = account ?? {};
  return {
    into: insertAuditEntries,
    values: [actorType, actor, address, requestId, action, subject, id, interfaceName, JSON.stringify(details)],
  };
}

/** What an operator or an account claims about the changes of a transaction. The database knows only the login. */
export type AuditClaim = { address: string | null; requestId: string | null } & (
  | {
      /** The name of the operator, whose machine is the address. */
      actor: string;
      /** For example `credential.rotate`. */
      command: string;
    }
  | {
      /** The id of the API client. */
      client: string;
      /** Its account. The claim is in no entry of another one. */
      accountId: AccountId;
      /** The session that makes the change. */
      portal?: object | undefined;
    }
);

/**
 * Adds a claim to the entries that the database writes from now on in this transaction: those of accounts, API clients, API keys
 * and sessions of the portal. Only the latter have the claim of an account.
 */
export async function claimChanges(transaction: Transaction, claim: AuditClaim): Promise<void> {
  const statement = sql('claim-changes')`select set_config('deedwire.audit_claim', $1, true)`;
  await transaction.query(statement, [JSON.stringify(claim)]);
}

const columns = `
  at, number, login, actor_type as "actorType", actor, address, request_id as "requestId",
  transaction_id as "transactionId", action, subject, account_id as "accountId", interface as "interfaceName",
  details::text as "detailsJson"`;

/** Newest first. Served by the primary keys of the partitions. */
export async function selectAuditEntries(database: Database, limit: number): Promise<AuditEntryRow[]> {
  const statement = sql('select-audit-entries')`
      select ${columns}
      from audit_entry
      order by at desc, number desc
      limit $1`;
  return database.query<AuditEntryRow>(statement, [limit]);
}

/** The entries after a position, or all of them, oldest first. Served by the primary keys of the partitions. */
export async function selectAuditEntriesAfter(
  database: Database,
  after: AuditPosition | null,
  limit: number,
): Promise<AuditEntryRow[]> {
  const statement = sql('select-audit-entries-after', 'in-index-order')`
      select ${columns}
      from audit_entry
      where (at, number) > (coalesce($1, '-infinity'::timestamptz), coalesce($2, 0::bigint))
      order by at, number
      limit $3`;
  return database.query<AuditEntryRow>(statement, [after?.at ?? null, after?.number ?? null, limit]);
}
