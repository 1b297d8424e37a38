import type { Database, Statement } from '@deedwire/store';
import { rowOfLiveWorker } from '../../fence/row-of-live-worker.ts';
import type { WorkerId } from '../../fence/worker-id.ts';
import { pgArray } from '../../kernel/pg-array.ts';
import type { DeliveryKey } from '../storage.ts';

// The rows are looked up as in settle-deliveries.ts.
// webhook_pending_delivery by primary key.
const countClaimsStatement: Statement = {
  name: 'count-delivery-takes',
  text: `
    with worker as (
      select id from webhook_worker where id = $1 and alive for key share
    ), counted as (
      update webhook_pending_delivery p
      set takes = p.takes + 1
      from worker, unnest($2::bigint[], $3::bigint[]) r (subscription_id, delivery_id)
      cross join lateral (
        select ctid
        from webhook_pending_delivery
        where subscription_id = r.subscription_id and delivery_id >= r.delivery_id
        order by delivery_id
        limit 1
      ) found
      where p.ctid = found.ctid and p.delivery_id = r.delivery_id
    )
    select exists (select from worker) as "isAlive"`,
};

/**
 * @param deliveries in the order of subscription and delivery
 * @throws {FencedOutError} if the worker was declared dead. Nothing was counted.
 */
export async function countClaims(
  database: Database,
  workerId: WorkerId,
  deliveries: readonly DeliveryKey[],
): Promise<void> {
  const values = [
    workerId,
    pgArray(deliveries.map(({ subscriptionId }) => subscriptionId)),
    pgArray(deliveries.map(({ deliveryId }) => deliveryId)),
  ];
  rowOfLiveWorker(await database.query<{ isAlive: boolean }>(countClaimsStatement, values), workerId);
}
