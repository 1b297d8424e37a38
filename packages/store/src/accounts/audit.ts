import type { AccountId, InterfaceName } from '@deedwire/core';
import { type Database, firstRow, type Transaction, sql } from '../statements/database.ts';
import type { InsertedRow } from '../transactions/shared-writes/row-set.ts';

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
   * wrote is `Customer/<id>`, with the type of `interface.account_type`.
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
 * and sessions of the portal. Only the latter have the claim of an account; of a key that an account changes, the database names the client.
 */
export async function claimChanges(transaction: Transaction, claim: AuditClaim): Promise<void> {
  const statement = sql('claim-changes')`select set_config('deedwire.audit_claim', $1, true)`;
  await transaction.query(statement, [JSON.stringify(claim)]);
}

const columns = `
  at, number, login, actor_type as "actorType", actor, address, request_id as "requestId",
  transaction_id as "transactionId", action, subject, account_id as "accountId", interface as "interfaceName",
  details::text as "detailsJson"`;

/** Which entries to list. Null: all of them. */
export interface AuditFilter {
  /** The id of an API client: its changes, and those of itself and of its keys. */
  clientId: string | null;
  /** The id of an API key: what was changed with it, including in sessions of the portal, and what changed it. */
  keyId: string | null;
  /** The changes of records of this account. */
  accountId: AccountId | null;
  /** The identifier of a record, or its end after a slash: its number, or its type and its number. */
  subject: string | null;
  since: Date | null;
  until: Date | null;
}

const before = `(at, number) < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 0::bigint))`;

/**
 * The last of the next `batch` entries before a position, from `since` on. Null if there are none. Served by the primary keys of the
 * partitions.
 *
 * @param position with the number null: all of the time are after it
 */
export async function selectAuditBatch(
  database: Database,
  position: AuditBound,
  since: Date | null,
  batch: number,
): Promise<AuditPosition | null> {
  const statement = sql('select-audit-batch', 'in-index-order')`
      select at, number
      from (
        select at, number
        from audit_entry
        where ${before} and at >= coalesce($3, '-infinity'::timestamptz)
        order by at desc, number desc
        limit $4
      ) batch
      order by at, number
      limit 1`;
  const values = [position.at, position.number, since, batch];
  return firstRow(await database.query<AuditPosition & Record<string, unknown>>(statement, values));
}

/** Null: from the newest entry on. */
export type AuditBound = { [Part in keyof AuditPosition]: AuditPosition[Part] | null };

/**
 * The entries of a batch that the filter matches, newest first. Served by the primary keys of the partitions: no index has clients,
 * keys, accounts or subjects.
 */
export async function selectAuditEntries(
  database: Database,
  position: AuditBound,
  last: AuditPosition,
  { clientId, keyId, accountId, subject }: Omit<AuditFilter, 'since' | 'until'>,
): Promise<AuditEntryRow[]> {
  const statement = sql('select-audit-entries', 'in-index-order')`
      select ${columns}
      from audit_entry
      where ${before} and (at, number) >= ($3, $4::bigint)
        and ($5::text is null or $5 in (subject, details ->> 'clientId') or actor_type = 'CLIENT' and actor = $5)
        and ($6::text is null or $6 in (subject, details ->> 'keyId', details #>> '{portal,keyId}'))
        and ($7::bigint is null or account_id = $7)
        and ($8::text is null or subject = $8 or right(subject, length($8) + 1) = '/' || $8)
      order by at desc, number desc`;
  const values = [position.at, position.number, last.at, last.number, clientId, keyId, accountId, subject];
  return database.query<AuditEntryRow & Record<string, unknown>>(statement, values);
}

/**
 * The records, by their global identifiers, that operators have removed in the entries of a batch. No login of an interface can write such
 * an entry. Served by the primary keys of the partitions.
 */
export async function selectRemovedRecords(
  database: Database,
  position: AuditBound,
  last: AuditPosition,
  actions: readonly string[],
): Promise<Pick<AuditEntryRow, 'accountId' | 'subject'>[]> {
  const statement = sql('select-removed-records', 'in-index-order')`
      select subject, account_id as "accountId"
      from audit_entry
      where ${before} and (at, number) >= ($3, $4::bigint) and action = any ($5::text[]) and actor_type = 'OPERATOR'
      order by at desc, number desc`;
  const values = [position.at, position.number, last.at, last.number, actions];
  return database.query<Pick<AuditEntryRow, 'accountId' | 'subject'>>(statement, values);
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
