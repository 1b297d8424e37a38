import type { Database, Statement } from '@deedwire/store';
import { pgArray } from '../../kernel/pg-array.ts';
import type { DeliveryKey } from '../storage.ts';

// webhook_pending_delivery by primary key.
const lockPendingStatement: Statement = {
  name: 'lock-pending-deliveries',
  text: `
    select
    from unnest($1::bigint[], $2::bigint[]) r (subscription_id, delivery_id)
    join webhook_pending_delivery p using (subscription_id, delivery_id)
    order by p.subscription_id, p.delivery_id
    for update of p`,
};

/** Waits for transactions that are recording results of these deliveries, and blocks further ones. */
export async function lockPendingDeliveries(database: Database, deliveries: readonly DeliveryKey[]): Promise<void> {
  const subscriptions = pgArray(deliveries.map(({ subscriptionId }) => subscriptionId));
  await database.query(lockPendingStatement, [subscriptions, pgArray(deliveries.map(({ deliveryId }) => deliveryId))]);
}
