import { type AccountId, timeOf } from '@deedwire/core';
import { type Database, sql } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '@deedwire/webhooks/tables';

export const healthStates = ['HEALTHY', 'RETRYING', 'FAILING', 'PAUSED'] as const;

/** `WebhookSubscriptionHealth`. What says something about failures is about the receiver at the callback URL. */
export interface Health {
  state: (typeof healthStates)[number];
  consecutiveFailures: number;
  failingSince: Date | null;
  lastFailureAt: Date | null;
  /** The delivery of the failed attempt at that time, or of the one that led to the pause. Null if it is not known. */
  lastFailedDeliveryId: DeliveryId | null;
  /** The minute. Null if no delivery of the last 7 days is known to be delivered. */
  lastDeliveredAt: Date | null;
  /** Null while the breaker is closed. Can lie in the past. */
  breakerOpenUntil: Date | null;
  /** At most `countedDeliveriesMax`. */
  pendingCount: number;
  pendingCountIsLowerBound: boolean;
  oldestPendingAt: Date | null;
}

/** Counting deliveries of a subscription ends there. */
export const countedDeliveriesMax = 1_000;

/** A receiver that has failed for so long is failing. */
const failingAfterMs = 5 * 60 * 1_000;

/** What the database knows. Times are by its clock. */
export interface HealthFacts extends Pick<
  Health,
  'failingSince' | 'lastFailureAt' | 'lastFailedDeliveryId' | 'lastDeliveredAt' | 'breakerOpenUntil'
> {
  now: Date;
  isPaused: boolean;
  /** Null if storage has no failures of the receiver. */
  consecutiveFailures: number | null;
  /** At most one more than `countedDeliveriesMax`. */
  pendingCount: number;
  oldestPending: DeliveryId | null;
}

export function healthOf({ now, isPaused, oldestPending, ...facts }: HealthFacts): Health {
  const { failingSince, breakerOpenUntil, pendingCount } = facts;
  const consecutiveFailures = facts.consecutiveFailures ?? 0;
  const hasFailedForLong = failingSince !== null && now.getTime() - failingSince.getTime() >= failingAfterMs;
  let state: Health['state'] = 'HEALTHY';
  if (isPaused) state = 'PAUSED';
  else if (breakerOpenUntil !== null || hasFailedForLong) state = 'FAILING';
  else if (consecutiveFailures > 0) state = 'RETRYING';
  return {
    state,
    ...facts,
    consecutiveFailures,
    pendingCount: Math.min(pendingCount, countedDeliveriesMax),
    pendingCountIsLowerBound: pendingCount > countedDeliveriesMax,
    oldestPendingAt: oldestPending && timeOf(oldestPending),
  };
}

/**
 * Reads the health of subscriptions of an account, in the order of `ids`. One that the account does not have, or has deleted, is paused,
 * and nothing is known about it. Served by the primary keys of webhook_subscription, webhook_receiver_state and webhook_pending_delivery,
 * and by webhook_hour_statistics_delivered.
 */
export async function selectHealth(
  database: Database,
  accountId: AccountId,
  ids: readonly SubscriptionId[],
): Promise<Health[]> {
  const statement = sql('select-subscription-health', 'in-index-order')`
      select clock_timestamp() as now, s.id is null or s.paused_reason is not null as "isPaused",
        r.consecutive_failures as "consecutiveFailures", r.failing_since as "failingSince", r.last_failure_at as "lastFailureAt",
        r.last_failed_delivery_id as "lastFailedDeliveryId", r.breaker_open_until as "breakerOpenUntil", waiting."pendingCount", waiting."oldestPending",
        (
          -- Of all processes that delivered in that hour: a shard can return to an earlier one.
          select max(last_delivered_at)
          from webhook_hour_statistics
          where subscription_id = s.id and has_delivered and hour = (
            select hour
            from webhook_hour_statistics
            where subscription_id = s.id and has_delivered
            order by hour desc
            limit 1
          )
        ) as "lastDeliveredAt"
      from unnest($2::bigint[]) with ordinality as wanted (id, number)
      left join lateral (
        select id, url_number, paused_reason
        from webhook_subscription
        where id = wanted.id and account_id = $1 and kind = 'PUSH' and deleted_at is null
        limit 1
      ) s on true
      left join lateral (
        select *
        from webhook_receiver_state
        where subscription_id = s.id and url_number = s.url_number
          and (consecutive_failures > 0 or s.paused_reason in ('GONE', 'FAILING'))
        limit 1
      ) r on true
      cross join lateral (
        select count(*)::int as "pendingCount", min(delivery_id) as "oldestPending"
        from (
          select delivery_id
          from webhook_pending_delivery
          where subscription_id = s.id
          order by delivery_id
          limit ${countedDeliveriesMax + 1}
        ) pending
      ) waiting
      order by wanted.number`;
  return (await database.query<HealthFacts & Record<string, unknown>>(statement, [accountId, ids])).map(healthOf);
}
