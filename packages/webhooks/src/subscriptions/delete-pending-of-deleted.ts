import type { Database } from '@deedwire/store';
import { rowOfLiveWorker } from '../fence/row-of-live-worker.ts';
import type { WorkerId } from '../fence/worker-id.ts';
import type { SubscriptionId } from '../kernel/ids.ts';

/**
 * Deletes the first pending deliveries of a deleted subscription. The worker that owns its shard calls it until none is
 * left, so that no statement deletes a whole backlog. Does nothing if the subscription was not deleted. Served by
 * webhook_pending_delivery_pkey.
 *
 * @returns how many were deleted
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function deletePendingOfDeleted(
  database: Database,
  workerId: WorkerId,
  subscriptionId: SubscriptionId,
  limit: number,
): Promise<number> {
  const statement = {
    name: 'delete-pending-of-deleted',
    text: `
      with worker as (select id from webhook_worker where id = $1 and alive for key share),
        deleted as (
          delete from webhook_pending_delivery p
          using worker, webhook_subscription s
          where s.id = $2 and s.deleted_at is not null and p.subscription_id = $2
            and p.delivery_id = any (array(
              select delivery_id
              from webhook_pending_delivery
              where subscription_id = $2
              order by delivery_id
              limit $3
            ))
          returning p.delivery_id
        )
      select exists (select from worker) as "isAlive", (select count(*) from deleted)::int as count`,
  };
  const values = [workerId, subscriptionId, limit];
  const rows = await database.query<{ isAlive: boolean; count: number }>(statement, values);
  return rowOfLiveWorker(rows, workerId).count;
}
