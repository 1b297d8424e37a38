import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/** Served by webhook_subscription_event_type_pkey. */
export async function deleteEventTypePins(transaction: Transaction, id: SubscriptionId): Promise<void> {
  const statement = {
    name: 'delete-event-type-pins',
    text: 'delete from webhook_subscription_event_type where subscription_id = $1',
  };
  await transaction.query(statement, [id]);
}
