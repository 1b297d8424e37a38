import type { AccountId } from '@deedwire/core';
import { type Database, sql } from '@deedwire/store';
import type { SubscriptionId } from '@deedwire/webhooks/tables';

/** `WebhookHourStatistics`. */
export interface HourStatistics {
  hour: Date;
  deliveredCount: number;
  failedAttemptCount: number;
  failedCount: number;
  /** Null if nothing was delivered, or only what a retry or a replay queued. */
  longestWaitSeconds: number | null;
}

/** How long hours are kept. */
export const statisticsHoursMax = 168;

/**
 * Reads the last hours of subscriptions of an account, without deleted ones and without hours in which nothing happened, oldest
 * first. Served by the primary keys of webhook_subscription and webhook_hour_statistics.
 *
 * @param hours how many, the current one included
 * @returns also the start of the current hour, by the clock of the database. Null if there is no subscription.
 */
export async function selectHourStatistics(
  database: Database,
  accountId: AccountId,
  ids: readonly SubscriptionId[],
  hours: number,
): Promise<{ currentHour: Date | null; known: Map<SubscriptionId, HourStatistics[]> }> {
  const statement = sql('select-hour-statistics')`
      select s.id, date_trunc('hour', now(), 'UTC') as "currentHour", known.*
      from webhook_subscription s
      left join lateral (
        select hour, least(sum(delivered), 2147483647)::int as "deliveredCount",
          least(sum(failed_attempts), 2147483647)::int as "failedAttemptCount",
          least(sum(failed), 2147483647)::int as "failedCount", max(longest_wait_seconds) as "longestWaitSeconds"
        from webhook_hour_statistics
        where subscription_id = s.id and hour > date_trunc('hour', now(), 'UTC') - $3::int * interval '1 hour'
        group by hour
        order by hour
      ) known on true
      where s.id = any ($2::bigint[]) and s.account_id = $1 and s.kind = 'PUSH' and s.deleted_at is null`;
  type Row = { id: SubscriptionId; currentHour: Date } & (HourStatistics | { hour: null });
  const rows = await database.query<Row>(statement, [accountId, ids, hours]);
  const known = new Map<SubscriptionId, HourStatistics[]>();
  for (const { id, currentHour: _, ...counts } of rows) {
    const ofSubscription = known.get(id) ?? [];
    known.set(id, ofSubscription);
    if (counts.hour !== null) ofSubscription.push(counts);
  }
  return { currentHour: rows[0]?.currentHour ?? null, known };
}
