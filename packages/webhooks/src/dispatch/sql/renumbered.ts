import { type Database, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import { idRange, pgArray, unlockedPendingRow } from '../../kernel/sql.ts';
import type { DeliveryKey } from '../storage.ts';

// An attempt that is not counted belongs to an earlier sending, so it does not change the schedule of retries.
// webhook_pending_delivery and webhook_attempt by primary key, the latter in the partitions between the first and the last id.
const renumberPendingStatement = sql('renumber-pending-deliveries')`
    with ${liveWorker}, renumbered as (
      update webhook_pending_delivery p
      set attempts = last.number, prior_attempts = p.prior_attempts + last.number - p.attempts
      from worker
      cross join unnest($2::bigint[], $3::bigint[]) r (subscription_id, delivery_id)
      cross join lateral (
        select number
        from webhook_attempt
        where delivery_id = r.delivery_id and delivery_id between $4 and $5
        order by number desc
        limit 1
      ) last
      where p.ctid = ${unlockedPendingRow} and p.attempts < last.number
      returning 1
    )
    select exists (select from worker) as "isAlive", (select count(*)::int from renumbered) as count`;

/**
 * Makes the next attempt of each delivery that is pending, and that no other transaction has locked, follow the last recorded
 * one. Returns how many deliveries had another number.
 *
 * @throws {FencedOutError} if the worker was declared dead. Nothing was written.
 */
export async function renumberPending(
  database: Database,
  workerId: WorkerId,
  deliveries: readonly DeliveryKey[],
): Promise<number> {
  const ids = deliveries.map(({ deliveryId }) => deliveryId);
  const subscriptions = pgArray(deliveries.map(({ subscriptionId }) => subscriptionId));
  const values = [workerId, subscriptions, pgArray(ids), ...idRange(ids)];
  const rows = await database.query<{ isAlive: boolean; count: number }>(renumberPendingStatement, values);
  return rowOfLiveWorker(rows, workerId).count;
}
