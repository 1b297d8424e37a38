import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';
import { appendSubscriptionChange } from '../outbox/append-subscription-change.ts';

/** Inserts a subscription without event types. It receives the events that are appended from now on. */
export async function insertSubscription(
  transaction: Transaction,
  subscription: {
    id: SubscriptionId;
    accountId: AccountId;
    interfaceName: InterfaceName;
    callbackUrl: string;
    secretCiphertext: Buffer;
  },
): Promise<void> {
  const statement = {
    name: 'insert-subscription',
    text: `
      with subscription as (
        insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
        values ($1, $2, $3, $4, $5, nextval('webhook_queue_position'))
        returning id, interface
      )
      insert into webhook_subscription_sequence (subscription_id, interface)
      select id, interface
      from subscription`,
  };
  const { id, accountId, interfaceName, callbackUrl, secretCiphertext } = subscription;
  await transaction.query(statement, [id, accountId, interfaceName, callbackUrl, secretCiphertext]);
  await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
}
