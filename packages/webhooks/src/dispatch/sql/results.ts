import { type Database, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import {
  isHome,
  markTime,
  mayBeMarked,
  pendingRow,
  unlockedPendingRow,
  pgArray,
  TextDictionary,
  rememberedOwnerPause,
  noteFailures,
} from '../../kernel/sql.ts';
import type { LaneState } from '../lane-state.ts';
import type { Settlement } from '../storage.ts';

/**
 * `SettledPositions`. In the snapshot of the statement, the rows that it deletes are still there. Rows that another transaction has
 * changed since the snapshot count as locked.
 */
const positions = (batchSize: string): string => `
    select exists (select from worker) as "isAlive",
      case when count(*) < ${batchSize}::int then coalesce(array_agg(number::int), '{}') end as settled,
      case when count(*) < ${batchSize}::int then array(
        select r.number::int
        from unnest($2::bigint[], $3::bigint[], $4::int[]) with ordinality r (subscription_id, delivery_id, attempts, number)
        join webhook_pending_delivery p on p.ctid = ${pendingRow} and p.attempts = r.attempts
        where (r.number in (select number from settled)) is not true
      ) else '{}' end as locked
    from settled`;

// Everything follows from the RETURNING of one DELETE, which waits for no other transaction. A retry is inserted again, which
// costs as much as an update of due_at, because that column is indexed.
// webhook_pending_delivery by primary key, webhook_subscription by primary key.
const settleDeliveries = sql('settle-deliveries')`
    with ${liveWorker}, settled as (
      delete from webhook_pending_delivery p
      using worker, unnest($2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::int[], $7::int[], $8::smallint[],
        $9::smallint[], $10::int[], $11::boolean[], $12::bigint[], $13::boolean[], $14::boolean[])
        with ordinality r (subscription_id, delivery_id, attempts, started_ms, duration_ms, status, error, detail, delay_ms,
          has_failed, last_ms, is_transient, is_hastened, number)
      where p.ctid = ${unlockedPendingRow} and p.attempts = r.attempts
      returning p.*, r.started_ms, r.duration_ms, r.status, r.error, r.detail, r.delay_ms, r.has_failed,
        r.last_ms, r.is_transient, r.is_hastened, r.number
    ), attempt as (
      insert into webhook_attempt (
        delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status, error, detail
      )
      select delivery_id, attempts + 1, subscription_id, interface, to_timestamp(started_ms / 1000.0::float8), duration_ms,
        status, ($15::text[])[error], ($15::text[])[detail]
      from settled
      where started_ms is not null
    ), retried as (
      insert into webhook_pending_delivery (
        subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
        sequence, due_at, attempts, body_bytes, prior_attempts, replay_id, is_test, last_attempt_at, last_is_transient
      )
      select subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
        sequence, greatest(now() + delay_ms * interval '1 millisecond', case when is_hastened then due_at end),
        attempts + (started_ms is not null)::int, body_bytes,
        prior_attempts + (is_hastened and started_ms is not null)::int, replay_id, is_test,
        coalesce(to_timestamp(last_ms / 1000.0::float8), last_attempt_at), coalesce(is_transient, last_is_transient)
      from settled
      where delay_ms is not null
    ), failed as (
      insert into webhook_failed_delivery (subscription_id, delivery_id, interface, claimed_at)
      select subscription_id, delivery_id, interface, case when started_ms is null then claimed_at end
      from settled
      where has_failed
      on conflict do nothing
    ), failure_to_report as (${noteFailures('settled', 'delivery_id', 'has_failed')}
    ), receiver as (
      insert into webhook_receiver_state as stored (
        subscription_id, url_number, consecutive_failures, breaker_open_until, breaker_probes, hold_until, failing_since,
        last_failure_at, last_failed_delivery_id
      )
      select s.id, s.url_number, state.consecutive_failures, to_timestamp(state.breaker_open_until_ms / 1000),
        state.breaker_probes, to_timestamp(state.hold_until_ms / 1000), to_timestamp(state.failing_since_ms / 1000),
        to_timestamp(state.last_failure_ms / 1000), state.last_failed_delivery_id
      from worker
      cross join unnest($16::int[], $17::bigint[], $18::int[], $19::int[], $20::float8[], $21::int[], $22::float8[],
        $23::float8[], $24::float8[], $25::bigint[])
        as state (number, subscription_id, url_number, consecutive_failures, breaker_open_until_ms, breaker_probes,
          hold_until_ms, failing_since_ms, last_failure_ms, last_failed_delivery_id)
      cross join lateral (
        select id, url_number
        from webhook_subscription
        where id = state.subscription_id and url_number = state.url_number and paused_reason is null and deleted_at is null
        limit 1
      ) s
      -- "is true" keeps this a hashed subplan: as a join it could become a nested loop over two lists.
      where (state.number in (select number from settled)) is true
      order by s.id
      on conflict (subscription_id) do update
      set url_number = excluded.url_number, consecutive_failures = excluded.consecutive_failures,
        breaker_open_until = excluded.breaker_open_until, breaker_probes = excluded.breaker_probes,
        hold_until = excluded.hold_until, failing_since = excluded.failing_since,
        last_failure_at = excluded.last_failure_at, last_failed_delivery_id = excluded.last_failed_delivery_id
      where stored.url_number <= excluded.url_number
    )
    ${positions('$26')}`;

/**
 * For successes of receivers whose state storage has: almost all batches. PostgreSQL sets each part of a statement up at every
 * execution, including those that find nothing to do, and the larger statement also passes on all columns of each row.
 */
const settleSuccesses = sql('settle-successes')`
    with ${liveWorker}, settled as (
      delete from webhook_pending_delivery p
      using worker, unnest($2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::int[], $7::smallint[])
        with ordinality r (subscription_id, delivery_id, attempts, started_ms, duration_ms, status, number)
      where p.ctid = ${unlockedPendingRow} and p.attempts = r.attempts
      returning p.delivery_id, p.attempts, p.subscription_id, p.interface, r.started_ms, r.duration_ms, r.status, r.number
    ), attempt as (
      insert into webhook_attempt (
        delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status
      )
      select delivery_id, attempts + 1, subscription_id, interface, to_timestamp(started_ms / 1000.0::float8), duration_ms,
        status
      from settled
    )
    ${positions('$8')}`;

/** Positions in the batch, from 1. */
export interface SettledPositions {
  /** The results whose delivery was pending. Null means all. */
  readonly settled: ReadonlySet<number> | null;
  /** The results whose delivery another transaction has locked. Nothing was written for them. */
  readonly locked: ReadonlySet<number>;
}

/**
 * Records results. For each delivery that is pending with the number of attempts that this worker read, it inserts the
 * attempt, and removes or reschedules the delivery. A delivery for which nothing was sent gets no attempt.
 *
 * It writes the state of a receiver only with a result that was recorded, and only while the subscription is neither
 * paused nor deleted and still has the URL of that state.
 *
 * @param batch in the order of subscription and delivery
 * @throws {FencedOutError} if the worker was declared dead. Nothing was written.
 */
export async function settle(
  database: Database,
  workerId: WorkerId,
  batch: readonly Settlement[],
): Promise<SettledPositions> {
  const values = [workerId, ...attemptValues(batch)];
  let statement = settleSuccesses;
  if (!batch.every(isPlainSuccess)) {
    statement = settleDeliveries;
    values.push(...outcomeValues(batch), ...stateValues(batch));
  }
  const rows = await database.query<{ isAlive: boolean; settled: number[] | null; locked: number[] }>(statement, [
    ...values,
    batch.length,
  ]);
  const { settled, locked } = rowOfLiveWorker(rows, workerId);
  return { settled: settled && new Set(settled), locked: new Set(locked) };
}

/** A success that needs no other row than its attempt. */
function isPlainSuccess({ attempt, next, laneState }: Settlement): boolean {
  return attempt !== null && attempt.error === null && next.kind === 'delivered' && laneState === null;
}

/** The deliveries and their attempts. */
function attemptValues(batch: readonly Settlement[]): string[] {
  return [
    pgArray(batch.map(({ delivery }) => delivery.subscriptionId)),
    pgArray(batch.map(({ delivery }) => delivery.deliveryId)),
    pgArray(batch.map(({ delivery }) => delivery.attempts)),
    pgArray(batch.map(({ attempt }) => attempt && attempt.startedAt.getTime())),
    pgArray(batch.map(({ attempt }) => attempt && Math.round(attempt.durationMs))),
    pgArray(batch.map(({ attempt }) => attempt && attempt.responseStatus)),
  ];
}

/** What attempts had other than a success, and what follows from them. */
function outcomeValues(batch: readonly Settlement[]): string[] {
  const texts = new TextDictionary();
  return [
    pgArray(batch.map(({ attempt }) => (attempt?.error ? texts.add(attempt.error) : null))),
    pgArray(batch.map(({ attempt }) => (attempt?.detail ? texts.add(attempt.detail) : null))),
    pgArray(batch.map(({ next }) => (next.kind === 'retry' ? Math.round(next.delayMs) : null))),
    pgArray(batch.map(({ next }) => next.kind === 'failed')),
    pgArray(batch.map(({ lastAttempt }) => lastAttempt && Math.round(lastAttempt.atMs))),
    pgArray(batch.map(({ lastAttempt }) => lastAttempt && lastAttempt.isTransient)),
    pgArray(batch.map(({ isHastened }) => isHastened)),
    texts.toPgArray(),
  ];
}

/** The states that the batch contains. Most batches contain few. */
function stateValues(batch: readonly Settlement[]): string[] {
  const numbers: number[] = [];
  const subscriptions: string[] = [];
  const urlNumbers: number[] = [];
  const states: LaneState[] = [];
  for (const [index, { delivery, laneState, urlNumber }] of batch.entries()) {
    if (laneState === null || urlNumber === null) continue;
    numbers.push(index + 1);
    subscriptions.push(delivery.subscriptionId);
    urlNumbers.push(urlNumber);
    states.push(laneState);
  }
  return [
    pgArray(numbers),
    pgArray(subscriptions),
    pgArray(urlNumbers),
    pgArray(states.map((state) => state.consecutiveFailures)),
    pgArray(states.map((state) => state.breakerOpenUntilMs)),
    pgArray(states.map((state) => state.breakerProbes)),
    pgArray(states.map((state) => state.holdUntilMs)),
    pgArray(states.map((state) => state.failingSinceMs)),
    pgArray(states.map((state) => state.lastFailureMs)),
    pgArray(states.map((state) => state.lastFailedDeliveryId)),
  ];
}

// Clears the state of the receiver, except for what led to the pause: a resumed subscription starts without the failures.
// webhook_subscription and webhook_receiver_state by primary key.
const pauseSubscriptionsStatement = sql('pause-failing-subscriptions')`
    with ${liveWorker}, paused as (
      update webhook_subscription s
      set paused_reason = r.reason, paused_at = now(), ${rememberedOwnerPause}
      from worker, unnest($2::bigint[], $3::int[], $4::text[], $5::bigint[]) r (id, url_number, reason, delivery_id)
      where s.id = r.id and s.url_number = r.url_number and s.deleted_at is null
        and (s.paused_reason is null or s.paused_reason in ('OWNER', 'OPERATOR'))
      returning s.id, s.url_number, r.delivery_id
    )
    insert into webhook_receiver_state (
      subscription_id, url_number, consecutive_failures, breaker_probes, last_failed_delivery_id
    )
    select id, url_number, 0, 0, delivery_id
    from paused
    order by id
    on conflict (subscription_id) do update
    set url_number = excluded.url_number, consecutive_failures = 0, breaker_open_until = null, breaker_probes = 0, hold_until = null,
      failing_since = null, last_failure_at = null, last_failed_delivery_id = excluded.last_failed_delivery_id`;

/**
 * Pauses the subscriptions of these results. Skips a subscription that is deleted or paused for a reason other than `OWNER`
 * and `OPERATOR`, which are remembered, or whose URL has changed.
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
    pgArray(settlements.map(({ delivery }) => delivery.deliveryId)),
  ]);
}

// webhook_subscription by primary key.
const hastenSubscriptionsStatement = sql('hasten-subscriptions')`
    with ${liveWorker}, unlocked as (
      select s.id
      from worker, unnest($2::bigint[], $3::int[]) r (id, url_number)
      join webhook_subscription s on s.id = r.id and s.url_number = r.url_number
      where s.paused_reason is null and s.deleted_at is null and ${mayBeMarked('hastened_at', '1 hour')}
        and ${isHome('s.account_id')}
      for no key update of s skip locked
    ), marked as (
      update webhook_subscription s
      set hastened_at = ${markTime}
      from unlocked
      where s.id = unlocked.id
      returning s.id, s.account_id, s.interface
    )
    insert into webhook_event_queue (account_id, interface, subscription_id)
    select account_id, interface, id
    from marked`;

/**
 * Makes deliveries due that wait because their receivers failed, unless it was done within the last hour, and appends the changes to
 * the queue, for the owner of the shard. Skips subscriptions that are paused or deleted or not at home, whose URL has changed, or that another
 * transaction has locked: it would delay the results of other accounts, and a later success sets the mark.
 *
 * @param settlements in the order of their subscriptions
 */
export async function hastenSubscriptions(
  database: Database,
  workerId: WorkerId,
  settlements: readonly Settlement[],
): Promise<void> {
  await database.query(hastenSubscriptionsStatement, [
    workerId,
    pgArray(settlements.map(({ delivery }) => delivery.subscriptionId)),
    pgArray(settlements.map(({ urlNumber }) => urlNumber)),
  ]);
}
