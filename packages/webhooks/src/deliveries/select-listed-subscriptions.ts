import type { AccountId } from '@deedwire/domain';
import { onlyRow, type Database } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';
import type { ListBounds } from './listed-range.ts';

export interface ListedSubscriptions extends ListBounds {
  /** Subscriptions that are not deleted and have had deliveries. */
  subscriptionIds: SubscriptionId[];
}

/**
 * Returns the subscriptions of an account, or one subscription of any account, and the bounds of their deliveries.
 *
 * Served by webhook_subscription_by_account or webhook_subscription_pkey, and by webhook_subscription_sequence_pkey.
 */
export async function selectListedSubscriptions(
  database: Database,
  of: { accountId: AccountId } | { subscriptionId: SubscriptionId },
): Promise<ListedSubscriptions> {
  const [name, column, value] =
    'accountId' in of ? ['account', 's.account_id', of.accountId] : ['subscription', 's.id', of.subscriptionId];
  const statement = {
    name: `select-listed-subscriptions-of-${name}`,
    text: `
      select r.expired_before as "expiredBefore", clock_timestamp() as now,
        listed.ids as "subscriptionIds", listed.oldest as "oldestSubscriptionId"
      from webhook_retention r
      cross join (
        select coalesce(array_agg(s.id::text), '{}') as ids, min(s.id) as oldest
        from webhook_subscription s
        join webhook_subscription_sequence q on q.subscription_id = s.id and q.last_sequence > 0
        where ${column} = $1 and s.deleted_at is null
      ) listed`,
  };
  return onlyRow(await database.query<ListedSubscriptions>(statement, [value]));
}
