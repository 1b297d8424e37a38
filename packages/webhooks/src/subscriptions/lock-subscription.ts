import type { AccountId } from '@deedwire/domain';
import { firstRow, type Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';
import type { PausedReason } from './subscription-row.ts';

export interface LockedSubscription {
  id: SubscriptionId;
  callbackUrl: string;
  pausedReason: PausedReason | null;
}

/**
 * Locks a subscription until the transaction ends. Returns null if the account has no such subscription, or has deleted it.
 * Served by webhook_subscription_pkey.
 *
 * A worker that pauses the subscription waits for the lock: do not call a receiver while you hold it.
 */
export async function lockSubscription(
  transaction: Transaction,
  accountId: AccountId,
  id: SubscriptionId,
): Promise<LockedSubscription | null> {
  const statement = {
    name: 'lock-subscription',
    text: `
      select id, callback_url as "callbackUrl", paused_reason as "pausedReason"
      from webhook_subscription
      where id = $2 and account_id = $1 and deleted_at is null
      for no key update`,
  };
  return firstRow(await transaction.query<LockedSubscription>(statement, [accountId, id]));
}
