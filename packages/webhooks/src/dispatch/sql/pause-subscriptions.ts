import type { Database, Statement } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';
import { pgArray } from '../../kernel/pg-array.ts';
import type { Settlement } from '../storage.ts';

// Deletes the state of the receiver: a resumed subscription starts without the failures that paused it.
// webhook_subscription and webhook_receiver_state by primary key.
const pauseSubscriptionsStatement: Statement = {
  name: 'pause-failing-subscriptions',
  text: `
    with worker as (
      select id from webhook_worker where id = $1 and alive for key share
    ), paused as (
      update webhook_subscription s
      set paused_reason = r.reason, paused_at = now()
      from worker, unnest($2::bigint[], $3::int[], $4::text[]) r (id, url_number, reason)
      where s.id = r.id and s.url_number = r.url_number and s.paused_reason is null and s.deleted_at is null
      returning s.id
    )
    delete from webhook_receiver_state using paused where subscription_id = paused.id`,
};

/**
 * Pauses the subscriptions of these results. Skips a subscription that is paused or deleted, or whose URL has changed.
 *
 * @param settlements in the order of their subscriptions
 */
export async function pauseSubscriptions(
  database: Database,
  workerId: WorkerId,
  settlements: readonly Settlement[],
): Promise<void> {
  await database.query(pauseSubscriptionsStatement, [
    workerId,
    pgArray(settlements.map(({ delivery }) => delivery.subscriptionId)),
    pgArray(settlements.map(({ urlNumber }) => urlNumber)),
    pgArray(settlements.map(({ pause }) => pause)),
  ]);
}
