import { type Database, onlyRow, type Transaction, sql } from '@deedwire/store';
import type { AccountId } from '../kernel/ids.ts';
import { workerOf } from '../outbox/outbox.ts';

/**
 * Deletes up to `batch` listeners that were not read for 24 hours, with an entry of the audit log for each. Returns their
 * number. Served by webhook_listener_by_last_read.
 */
export async function deleteUnreadListeners(transaction: Transaction, batch: number): Promise<number> {
  const statement = sql('delete-unread-listeners')`select webhook_delete_unread_listeners($1) as "accountId"`;
  const rows = await transaction.query<{ accountId: AccountId }>(statement, [batch]);
  for (const { accountId } of rows) transaction.notifyAfterCommit(workerOf(accountId));
  return rows.length;
}

/**
 * Makes the new secrets of up to `batch` rotations that have ended the only ones, and erases those that a deletion by an
 * earlier release has left. Returns their number. Served by webhook_subscription_by_end_of_rotation.
 */
export async function endRotations(database: Database, batch: number): Promise<number> {
  const statement = sql('end-rotations')`select webhook_end_rotations($1)::int as count`;
  return onlyRow(await database.query<{ count: number }>(statement, [batch])).count;
}
