import { type Database, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import type { SubscriptionId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/sql.ts';

/** The totals of a subscription in an hour, as one process has counted them. */
export interface HourTotals {
  readonly subscriptionId: SubscriptionId;
  readonly delivered: number;
  readonly failedAttempts: number;
  /** Deliveries that ended without success. */
  readonly failed: number;
  /** Null if nothing was delivered, or only what a retry or a replay queued. */
  readonly longestWaitMs: number | null;
  /** Null if nothing was delivered. */
  readonly lastDeliveredMs: number | null;
}

// webhook_worker, webhook_subscription and webhook_hour_statistics by primary key.
const writeStatement = sql('write-hour-statistics')`
    with ${liveWorker}, written as (
      insert into webhook_hour_statistics as stored (
        subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed, longest_wait_seconds, last_delivered_at
      )
      select r.subscription_id, to_timestamp($2::bigint / 1000), $3::bigint, s.interface, r.delivered, r.failed_attempts, r.failed,
        round(r.longest_wait_ms / 1000.0), date_trunc('minute', to_timestamp(r.last_delivered_ms / 1000))
      from worker
      cross join unnest($4::bigint[], $5::int[], $6::int[], $7::int[], $8::bigint[], $9::bigint[])
        as r (subscription_id, delivered, failed_attempts, failed, longest_wait_ms, last_delivered_ms)
      cross join lateral (
        select interface
        from webhook_subscription
        where id = r.subscription_id and deleted_at is null
        limit 1
      ) s
      order by r.subscription_id
      on conflict (subscription_id, hour, counter_id) do update
      -- Totals only grow. A write that was given up can be carried out after later ones.
      set delivered = greatest(stored.delivered, excluded.delivered),
        failed_attempts = greatest(stored.failed_attempts, excluded.failed_attempts),
        failed = greatest(stored.failed, excluded.failed),
        longest_wait_seconds = greatest(stored.longest_wait_seconds, excluded.longest_wait_seconds),
        last_delivered_at = greatest(stored.last_delivered_at, excluded.last_delivered_at)
    )
    select exists (select from worker) as "isAlive"`;

/**
 * Stores the totals of subscriptions in an hour, in place of those that the process has stored before. Skips subscriptions that are
 * deleted.
 *
 * @throws {FencedOutError} if the worker was declared dead. Nothing was written.
 */
export async function writeHourTotals(
  database: Database,
  workerId: WorkerId,
  { startMs, counterId }: { readonly startMs: number; readonly counterId: number },
  totals: readonly HourTotals[],
): Promise<void> {
  const rows = await database.query<{ isAlive: boolean }>(writeStatement, [
    workerId,
    startMs,
    counterId,
    pgArray(totals.map(({ subscriptionId }) => subscriptionId)),
    pgArray(totals.map(({ delivered }) => delivered)),
    pgArray(totals.map(({ failedAttempts }) => failedAttempts)),
    pgArray(totals.map(({ failed }) => failed)),
    pgArray(totals.map(({ longestWaitMs }) => longestWaitMs && Math.round(longestWaitMs))),
    pgArray(totals.map(({ lastDeliveredMs }) => lastDeliveredMs && Math.round(lastDeliveredMs))),
  ]);
  rowOfLiveWorker(rows, workerId);
}
