import { type Database, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import { isHome, pendingRow, unlockedPendingRow } from '../../kernel/sql.ts';
import type { OpenReplay } from '../storage.ts';

/**
 * When the delivery of a row `r` of webhook_replay is due: now, and that of a retry also before the first one of its subscription.
 * Served by webhook_pending_delivery_due.
 */
export const dueOfRetry = `least(
        date_trunc('milliseconds', now()),
        (
          select due_at - interval '1 millisecond'
          from webhook_pending_delivery
          where subscription_id = r.subscription_id and r.delivery_id is not null
          order by due_at, sequence
          limit 1
        )
      )`;

// The hold after 429 or 503 with Retry-After stays. A delivery that another transaction holds is being settled: the retry waits for
// what comes of it.
// webhook_worker, webhook_replay, webhook_subscription, webhook_pending_delivery and webhook_receiver_state by primary key;
// webhook_pending_delivery_due.
const retryStatement = sql('retry-pending-delivery')`
    with ${liveWorker}, r as materialized (
      select r.id, r.subscription_id, r.delivery_id, s.url_number
      from worker
      join webhook_replay r on r.id = $2 and r.ended_at is null and r.cancelled_at is null
      join webhook_subscription s on s.id = r.subscription_id and s.account_id = r.account_id
        and s.paused_reason is null and s.deleted_at is null and ${isHome('s.account_id')}
      for no key update of r
    ), moved as (
      update webhook_pending_delivery p set due_at = ${dueOfRetry} from r where p.ctid = ${unlockedPendingRow} returning 1
    ), probed as (
      update webhook_receiver_state state
      set breaker_open_until = now()
      from r
      where state.subscription_id = r.subscription_id and state.url_number = r.url_number
        and state.breaker_open_until > now()
    ), ended as (
      update webhook_replay replay
      set ended_at = now(), last_id = r.delivery_id, queued = 1
      from r
      where replay.id = r.id and exists (select from moved)
    )
    select exists (select from worker) as "isAlive",
      case
        when not exists (select from r) then 'changed'
        when exists (select from moved) then 'queued'
        when exists (select from r where ${pendingRow} is not null) then 'locked'
        else 'finished'
      end as result`;

/**
 * Lets the next probe of an open breaker start now, and makes the delivery of a retry due before all others of its subscription if
 * it is pending, which ends the retry. `finished`: it is not pending.
 *
 * @throws {FencedOutError} if the worker was declared dead. Nothing was written.
 */
export async function retryPendingDelivery(
  database: Database,
  workerId: WorkerId,
  { id }: OpenReplay,
): Promise<'changed' | 'finished' | 'locked' | 'queued'> {
  type Row = { isAlive: boolean; result: 'changed' | 'finished' | 'locked' | 'queued' };
  return rowOfLiveWorker(await database.query<Row>(retryStatement, [workerId, id]), workerId).result;
}
