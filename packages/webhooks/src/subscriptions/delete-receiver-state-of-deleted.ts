import type { Database } from '@deedwire/store';
import { rowOfLiveWorker } from '../fence/row-of-live-worker.ts';
import type { WorkerId } from '../fence/worker-id.ts';
import type { SubscriptionId } from '../kernel/ids.ts';

/**
 * Deletes the receiver state of a deleted subscription. Call it once no delivery is pending, because only the result of a
 * pending delivery writes the state. Does nothing if the subscription was not deleted. Served by
 * webhook_receiver_state_pkey.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function deleteReceiverStateOfDeleted(
  database: Database,
  workerId: WorkerId,
  subscriptionId: SubscriptionId,
): Promise<void> {
  const statement = {
    name: 'delete-receiver-state-of-deleted',
    text: `
      with worker as (select id from webhook_worker where id = $1 and alive for key share),
        deleted as (
          delete from webhook_receiver_state r
          using worker, webhook_subscription s
          where s.id = $2 and s.deleted_at is not null and r.subscription_id = $2
        )
      select exists (select from worker) as "isAlive"`,
  };
  rowOfLiveWorker(await database.query<{ isAlive: boolean }>(statement, [workerId, subscriptionId]), workerId);
}
