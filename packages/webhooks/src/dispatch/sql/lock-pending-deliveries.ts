import type { Database, Statement } from '@deedwire/store';
import { pgArray } from '../../kernel/pg-array.ts';
import type { DeliveryKey } from '../storage.ts';

// The rows are looked up as in settle-deliveries.ts, and locked in the order of the deliveries.
// webhook_pending_delivery by primary key.
const lockPendingStatement: Statement = {
  name: 'lock-pending-deliveries',
  text: `
    select
    from unnest($1::bigint[], $2::bigint[]) r (subscription_id, delivery_id)
    cross join lateral (
      select ctid
      from webhook_pending_delivery
      where subscription_id = r.subscription_id and delivery_id >= r.delivery_id
      order by delivery_id
      limit 1
    ) found
    join webhook_pending_delivery p on p.ctid = found.ctid and p.delivery_id = r.delivery_id
    for update of p`,
};

/**
 * Waits for transactions that are recording results of these deliveries, and blocks further ones.
 *
 * @param deliveries in the order of subscription and delivery
 */
export async function lockPendingDeliveries(database: Database, deliveries: readonly DeliveryKey[]): Promise<void> {
  const subscriptions = pgArray(deliveries.map(({ subscriptionId }) => subscriptionId));
  await database.query(lockPendingStatement, [subscriptions, pgArray(deliveries.map(({ deliveryId }) => deliveryId))]);
}
