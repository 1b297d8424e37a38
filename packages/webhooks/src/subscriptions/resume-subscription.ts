import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/** Served by webhook_subscription_pkey. */
export async function resumeSubscription(transaction: Transaction, id: SubscriptionId): Promise<void> {
  const statement = {
    name: 'resume-subscription',
    text: 'update webhook_subscription set paused_reason = null, paused_at = null where id = $1',
  };
  await transaction.query(statement, [id]);
}
