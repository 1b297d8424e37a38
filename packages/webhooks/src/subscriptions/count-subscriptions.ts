import type { AccountId } from '@deedwire/domain';
import { onlyRow, type Database } from '@deedwire/store';

/** Does not count deleted subscriptions. Served by webhook_subscription_by_account. */
export async function countSubscriptions(database: Database, accountId: AccountId): Promise<number> {
  const statement = {
    name: 'count-subscriptions',
    text: 'select count(*)::int as count from webhook_subscription where account_id = $1 and deleted_at is null',
  };
  return onlyRow(await database.query<{ count: number }>(statement, [accountId])).count;
}
