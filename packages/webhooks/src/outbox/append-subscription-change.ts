import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';
import { workerOf } from './insert-event.ts';

/**
 * Queues a change of a subscription for the owner of the account's shard, which then reads the subscription again. Every
 * transaction that creates, changes, pauses, resumes or deletes a subscription calls it, so that a lost notification only
 * delays the change.
 */
export async function appendSubscriptionChange(
  transaction: Transaction,
  change: { accountId: AccountId; interfaceName: InterfaceName; subscriptionId: SubscriptionId },
): Promise<void> {
  const statement = {
    name: 'append-subscription-change',
    text: 'insert into webhook_event_queue (account_id, interface, subscription_id) values ($1, $2, $3)',
  };
  const { accountId, interfaceName, subscriptionId } = change;
  await transaction.query(statement, [accountId, interfaceName, subscriptionId]);
  transaction.notifyAfterCommit(workerOf(accountId));
}
