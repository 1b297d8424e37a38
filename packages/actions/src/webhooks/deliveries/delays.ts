import type { Database } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '@deedwire/webhooks/tables';
import { type Delay, type DelayFacts, delayOf } from './delay.ts';
import { groupIds } from './pages.ts';

/** A delivery that was pending when it was read. */
export interface PendingDeliveryKey {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
}

// Each delivery costs up to 24 buffers, and each day 3 locks.
const deliveriesPerStatement = 20;
const daysPerStatement = 10;

/**
 * Returns why deliveries wait, in the order of `keys`. An element is null if the delivery is no longer pending.
 *
 * Each statement reads a bounded number of rows and partitions. Served by the primary keys of all tables.
 */
export async function selectDelays(database: Database, keys: readonly PendingDeliveryKey[]): Promise<(Delay | null)[]> {
  const subscriptionOf = new Map(keys.map(({ id, subscriptionId }) => [id, subscriptionId]));
  const newestFirst = [...subscriptionOf.keys()].toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
  const delays = new Map<DeliveryId, Delay>();
  for (const group of groupIds(newestFirst, deliveriesPerStatement, daysPerStatement)) {
    const subscriptionIds = group.map((id) => subscriptionOf.get(id));
    for (const { id, ...facts } of await selectFacts(database, group, subscriptionIds)) delays.set(id, delayOf(facts));
  }
  return keys.map(({ id }) => delays.get(id) ?? null);
}

async function selectFacts(
  database: Database,
  ids: readonly DeliveryId[],
  subscriptionIds: readonly unknown[],
): Promise<(DelayFacts & { id: DeliveryId })[]> {
  const statement = {
    name: 'select-delay-facts',
    planning: 'for-values' as const,
    text: `
      select p.delivery_id as id, clock_timestamp() as now, p.due_at as "dueAt", p.attempts,
        a.started_at as "lastAttemptAt", s.paused_reason as "pausedReason", s.paused_at as "pausedAt",
        r.breaker_open_until as "breakerOpenUntil", r.hold_until as "holdUntil", r.failing_since as "failingSince",
        r.last_failure_at as "lastFailureAt", webhook_has_worker(s.account_id) as "hasWorker"
      from unnest($1::bigint[], $2::bigint[]) as wanted (id, subscription_id)
      cross join lateral (
        select delivery_id, due_at, attempts
        from webhook_pending_delivery
        where subscription_id = wanted.subscription_id and delivery_id = wanted.id
        union all
        -- A retry that the worker has not queued yet.
        select delivery_id, created_at, 0
        from webhook_replay
        where delivery_id = wanted.id and ended_at is null and cancelled_at is null
        limit 1
      ) p
      cross join lateral (
        select *
        from webhook_subscription
        where id = wanted.subscription_id and deleted_at is null
        limit 1
      ) s
      left join lateral (
        select *
        from webhook_receiver_state
        where subscription_id = wanted.subscription_id and url_number = s.url_number
        limit 1
      ) r on true
      left join lateral (
        select started_at
        from webhook_attempt
        where delivery_id = wanted.id and delivery_id between $3::bigint and $4::bigint and number = p.attempts
        limit 1
      ) a on true`,
  };
  return database.query<DelayFacts & { id: DeliveryId }>(statement, [ids, subscriptionIds, ids.at(-1), ids[0]]);
}
