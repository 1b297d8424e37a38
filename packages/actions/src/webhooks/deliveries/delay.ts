import { type Database, sql } from '@deedwire/store';
import type { DeliveryId, PausedReason, SubscriptionId } from '@deedwire/webhooks/tables';
import { groupIds } from './pages.ts';

export const delayReasons = [
  'PAUSED',
  'BREAKER_OPEN',
  'RETRY_AFTER',
  'RETRY_SCHEDULED',
  'NO_WORKER',
  'WAITING_FOR_TURN',
  'LIVE_TRAFFIC',
] as const;

export type DelayReason = (typeof delayReasons)[number];

/** Why a delivery has not been sent yet, or is not sent again yet. */
export interface Delay {
  reason: DelayReason;
  /** Since when the reason holds. Null if that is not known. */
  since: Date | null;
  /** When the next attempt can start. Null if that depends on something other than time. */
  until: Date | null;
  message: string;
}

/** What the database knows about a delivery that is not finished. Times are by its clock. */
export interface DelayFacts {
  now: Date;
  dueAt: Date;
  /** The number of attempts made. */
  attempts: number;
  /** When the last attempt started. Null if there is none. */
  lastAttemptAt: Date | null;
  pausedReason: PausedReason | null;
  pausedAt: Date | null;
  /** Of the receiver. Null while the breaker is closed. Can lie in the past. */
  breakerOpenUntil: Date | null;
  /** Until when the receiver asked for no request. Null if it did not ask. Can lie in the past. */
  holdUntil: Date | null;
  /** The first failure since the last success of the subscription. Null if there is none. */
  failingSince: Date | null;
  /** The last failure since the last success. Null if there is none, or if a worker of an earlier release recorded it. */
  lastFailureAt: Date | null;
  /** Whether a worker sends the deliveries of the account. */
  hasWorker: boolean;
}

const pausedMessages: Readonly<Record<PausedReason, string>> = {
  OWNER:
    'The subscription is paused, by you or for you by an operator. The delivery is sent once the subscription is resumed.',
  OPERATOR: 'An operator has paused the subscription for you. The delivery is sent once you or an operator resume it.',
  GONE: 'The subscription is paused, because the callback URL returned 410 Gone. Restore the receiver and resume the subscription, or change its callback URL.',
  FAILING:
    'The subscription is paused, because all attempts failed for 96 hours. Fix the receiver and resume the subscription, or change its callback URL.',
  VERSION_RETIRED:
    'The subscription is paused, because it pins a retired version of an event type. Pin another version.',
};

/** The reason that holds longest. A pause comes first, because no time ends it. */
export function delayOf(facts: DelayFacts): Delay {
  const { now, dueAt, attempts, pausedReason, pausedAt, breakerOpenUntil, holdUntil, hasWorker } = facts;
  if (pausedReason !== null)
    return { reason: 'PAUSED', since: pausedAt, until: null, message: pausedMessages[pausedReason] };

  const waits = [
    wait(breakerOpenUntil, {
      reason: 'BREAKER_OPEN',
      since: facts.failingSince,
      message:
        '10 attempts or more to the callback URL failed in a row. Deedwire tries single deliveries, and sends all others once one succeeds. See the advice of the latest attempts.',
    }),
    wait(holdUntil, {
      reason: 'RETRY_AFTER',
      since: facts.lastFailureAt,
      message:
        'The receiver asked with `Retry-After` to get no request until then. This applies to all deliveries of the subscription.',
    }),
    wait(attempts > 0 ? dueAt : null, {
      reason: 'RETRY_SCHEDULED',
      since: facts.lastAttemptAt,
      // The delivery whose response asked for it waits up to 20 % longer, so this reason hides RETRY_AFTER.
      message:
        holdUntil !== null && holdUntil > now
          ? `Attempt ${attempts} failed, and the next one is scheduled. The receiver asked with \`Retry-After\` to get no request until ${holdUntil.toISOString()}.`
          : `Attempt ${attempts} failed, and the next one is scheduled. It starts sooner once the receiver has worked again. The time between attempts grows from 5 seconds to 12 hours, plus up to 20 %.`,
    }),
  ].filter((delay) => delay !== null && delay.until > now);
  const longest = waits.reduce<Wait | null>(
    (one, other) => (one && other && other.until <= one.until ? one : other),
    null,
  );
  if (longest) return longest;

  if (!hasWorker)
    return {
      reason: 'NO_WORKER',
      since: dueAt,
      until: null,
      message:
        'Deedwire sends no deliveries of your account at the moment. Your receiver is not the cause; the delivery is sent once a worker runs again.',
    };
  return {
    reason: 'WAITING_FOR_TURN',
    since: dueAt > now ? null : dueAt,
    until: dueAt > now ? dueAt : null,
    message:
      'The delivery is due or being sent. A subscription has at most 16 requests at a time, so deliveries to a slow receiver wait for earlier ones. If this lasts, let the receiver respond 2xx before it does the work.',
  };
}

type Wait = Delay & { until: Date };

function wait(until: Date | null, delay: Omit<Delay, 'until'>): Wait | null {
  return until === null ? null : { ...delay, until };
}

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
  const statement = sql('select-delay-facts', 'for-values')`
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
      ) a on true`;
  return database.query<DelayFacts & { id: DeliveryId }>(statement, [ids, subscriptionIds, ids.at(-1), ids[0]]);
}
