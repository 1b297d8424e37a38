import type { AccountId } from '@deedwire/domain';
import type { Database } from '@deedwire/store';

/** Deletes the counts of previous minutes. Served by webhook_handshake_count_pkey. */
export async function deleteOldHandshakeCounts(database: Database, accountId: AccountId): Promise<void> {
  const statement = {
    name: 'delete-old-handshake-counts',
    text: `delete from webhook_handshake_count where account_id = $1 and minute < date_trunc('minute', now())`,
  };
  await database.query(statement, [accountId]);
}
