import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/**
 * Hides a subscription from every interface and erases its URL and its secret. Its worker deletes the pending deliveries
 * and the receiver state. Served by webhook_subscription_pkey.
 */
export async function markSubscriptionDeleted(transaction: Transaction, id: SubscriptionId): Promise<void> {
  const statement = {
    name: 'mark-subscription-deleted',
    text: `
      update webhook_subscription
      set deleted_at = now(), callback_url = '', secret_ciphertext = ''
      where id = $1`,
  };
  await transaction.query(statement, [id]);
}
