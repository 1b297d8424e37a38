import type { InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import type { SubscriptionId, EventTypePin } from '@deedwire/webhooks/tables';

export async function insertEventTypePins(
  transaction: Transaction,
  subscription: { id: SubscriptionId; interfaceName: InterfaceName },
  pins: readonly EventTypePin[],
): Promise<void> {
  const statement = {
    name: 'insert-event-type-pins',
    text: `
      insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
      select $1, $2, t.event_type, t.event_version
      from unnest($3::text[], $4::text[]) as t (event_type, event_version)`,
  };
  await transaction.query(statement, [
    subscription.id,
    subscription.interfaceName,
    pins.map(({ type }) => type),
    pins.map(({ version }) => version),
  ]);
}

/** Served by webhook_subscription_event_type_pkey. */
export async function deleteEventTypePins(transaction: Transaction, id: SubscriptionId): Promise<void> {
  const statement = {
    name: 'delete-event-type-pins',
    text: 'delete from webhook_subscription_event_type where subscription_id = $1',
  };
  await transaction.query(statement, [id]);
}
