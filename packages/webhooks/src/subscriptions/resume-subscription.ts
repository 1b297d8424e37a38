import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/**
 * Resumes a paused subscription. Its URL gets a new number, so that the receiver starts without earlier failures, and
 * requests from before the pause cannot pause it again. Served by webhook_subscription_pkey.
 */
export async function resumeSubscription(transaction: Transaction, id: SubscriptionId): Promise<void> {
  const statement = {
    name: 'resume-subscription',
    text: `
      update webhook_subscription
      set paused_reason = null, paused_at = null, url_number = url_number + 1
      where id = $1`,
  };
  await transaction.query(statement, [id]);
}
