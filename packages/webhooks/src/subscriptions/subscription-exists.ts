import type { Database } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/** Looks in all accounts, for operators. False for a deleted subscription. Served by webhook_subscription_pkey. */
export async function subscriptionExists(database: Database, id: SubscriptionId): Promise<boolean> {
  const statement = {
    name: 'subscription-exists',
    text: 'select id from webhook_subscription where id = $1 and deleted_at is null',
  };
  return (await database.query(statement, [id])).length === 1;
}
