import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/**
 * Sets the callback URL. A new URL gets a new number, so that the state of the previous receiver no longer applies. Served
 * by webhook_subscription_pkey.
 */
export async function updateSubscriptionUrl(
  transaction: Transaction,
  id: SubscriptionId,
  callbackUrl: string,
): Promise<void> {
  const statement = {
    name: 'update-subscription-url',
    text: `
      update webhook_subscription
      set callback_url = $2, url_number = url_number + 1
      where id = $1 and callback_url <> $2`,
  };
  await transaction.query(statement, [id, callbackUrl]);
}
