import type { AccountId } from '@deedwire/domain';
import { keysetConditions, type Database, type PageQuery } from '@deedwire/store';
import { subscriptionColumns, type SubscriptionRow } from './subscription-row.ts';

/** Newest first. Served by webhook_subscription_by_account. */
export async function selectSubscriptions(
  database: Database,
  accountId: AccountId,
  page: PageQuery<'WebhookSubscription'>,
): Promise<SubscriptionRow[]> {
  const statement = {
    name: 'select-subscriptions',
    text: `
      select ${subscriptionColumns}
      from webhook_subscription s
      where s.deleted_at is null and ${keysetConditions(['s.account_id', '$1'], 's.id', '$2')}
      limit $3`,
  };
  return database.query<SubscriptionRow>(statement, [accountId, page.afterId, page.limit]);
}
