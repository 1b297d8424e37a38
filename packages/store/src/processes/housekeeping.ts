import { onlyRow, type Database, sql, type Transaction } from '../statements/database.ts';

/** Deletes up to `batch` idempotency keys that are older than 24 hours. Returns their number. Served by idempotency_key_by_age. */
export async function deleteExpiredIdempotencyKeys(database: Database, batch: number): Promise<number> {
  const statement = sql('delete-expired-idempotency-keys')`select delete_expired_idempotency_keys($1)::int as count`;
  return onlyRow(await database.query<{ count: number }>(statement, [batch])).count;
}

/** Deletes up to `batch` sessions of the portal that expired more than a day ago. Returns their number. Served by portal_session_by_expiry. */
export async function deleteExpiredPortalSessions(database: Database, batch: number): Promise<number> {
  const statement = sql('delete-expired-portal-sessions')`select delete_expired_portal_sessions($1)::int as count`;
  return onlyRow(await database.query<{ count: number }>(statement, [batch])).count;
}

/**
 * Deletes up to `batch` each of contact addresses that were not confirmed within 7 days, and of expired tokens and old mails to them. Returns
 * the largest number. Served by contact_email_unconfirmed, contact_confirmation_by_age, contact_token_by_expiry and contact_mail_by_age.
 */
export async function forgetContacts(database: Database, batch: number): Promise<number> {
  const statement = sql('forget-contacts')`select forget_contacts($1)::int as count`;
  return onlyRow(await database.query<{ count: number }>(statement, [batch])).count;
}

/**
 * Creates the partitions of the audit log for the next months, and drops those whose entries are all older than `keepDays`, at
 * least 90. Does nothing while another session does the same.
 */
export async function maintainAuditLog(
  database: Database,
  keepDays: number,
): Promise<{ created: string | null; dropped: string | null }[]> {
  const statement = sql('maintain-audit-log')`select created, dropped from maintain_audit_log($1)`;
  return database.query(statement, [keepDays]);
}

/** Deletes up to `batch` counts of the use of versions that are older than 400 days. Returns their number. Served by interface_use_by_day. */
export async function deleteOldUse(database: Database, batch: number): Promise<number> {
  const statement = sql('delete-old-use')`select delete_old_use($1)::int as count`;
  return onlyRow(await database.query<{ count: number }>(statement, [batch])).count;
}

/**
 * Deletes up to `batch` API keys that ended 90 days ago, and the addresses of the last uses of up to `batch` keys that have ended or were not
 * used for 90 days. Returns the larger number. Served by api_key_by_end; reads all keys for the addresses.
 */
export async function forgetEndedApiKeys(database: Database, batch: number): Promise<number> {
  const statement = sql('forget-ended-api-keys')`select forget_ended_api_keys($1)::int as count`;
  return onlyRow(await database.query<{ count: number }>(statement, [batch])).count;
}

/**
 * Appends `api_key.expiring` 30 days, 7 days and a day before the end of keys, for up to `batch` keys. Returns their number. Served by
 * api_key_by_end.
 */
export async function reportExpiringApiKeys(transaction: Transaction, batch: number): Promise<number> {
  const statement = sql('report-expiring-api-keys')`select shard::text from report_expiring_api_keys($1) as shard`;
  const reported = await transaction.query<{ shard: string }>(statement, [batch]);
  for (const shard of new Set(reported.map((event) => event.shard))) transaction.notifyAfterCommit(shard);
  return reported.length;
}
