import type { AccountId } from '@deedwire/domain';
import { firstRow, type Database } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';
import { subscriptionColumns, type SubscriptionRow } from './subscription-row.ts';

/** Returns null if the account has no such subscription, or has deleted it. Served by webhook_subscription_pkey. */
export async function selectSubscription(
  database: Database,
  accountId: AccountId,
  id: SubscriptionId,
): Promise<SubscriptionRow | null> {
  const statement = {
    name: 'select-subscription',
    text: `
      select ${subscriptionColumns}
      from webhook_subscription s
      where s.id = $2 and s.account_id = $1 and s.deleted_at is null`,
  };
  return firstRow(await database.query<SubscriptionRow>(statement, [accountId, id]));
}
