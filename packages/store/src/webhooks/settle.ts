import type { RecordId } from '@deedwire/domain';
import type { Database } from '../store.ts';
import type { LaneLease } from './lanes.ts';

/**
 * Holds those lanes that are still held under these tokens until the transaction ends. What is settled in another lane
 * must not be written. Served by webhook_lane_pkey.
 */
export async function lockHeldLanes(database: Database, lanes: readonly LaneLease[]): Promise<LaneLease[]> {
  const statement = {
    name: 'lock-held-lanes',
    text: `
      select l.subscription_id as "subscriptionId", l.fencing_token as "fencingToken"
      from webhook_lane l
      join unnest($1::bigint[], $2::bigint[]) as held (subscription_id, fencing_token)
        on l.subscription_id = held.subscription_id and l.fencing_token = held.fencing_token
      order by l.subscription_id
      for no key update of l`,
  };
  return database.query<LaneLease>(statement, [
    lanes.map(({ subscriptionId }) => subscriptionId),
    lanes.map(({ fencingToken }) => fencingToken),
  ]);
}

export interface AttemptInput {
  deliveryId: RecordId<'WebhookDelivery'>;
  number: number;
  startedAt: Date;
  durationMs: number;
  responseStatus: number | null;
  error: string | null;
}

/** One that is there already was written by a settlement whose answer was lost. Served by webhook_attempt_pkey. */
export async function insertAttempts(database: Database, attempts: readonly AttemptInput[]): Promise<void> {
  const statement = {
    name: 'insert-attempts',
    text: `
      insert into webhook_attempt (delivery_id, number, interface, started_at, duration_ms, response_status, error)
      select a.delivery_id, a.number, d.interface, a.started_at, a.duration_ms, a.response_status, a.error
      from unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[])
        as a (delivery_id, number, started_at, duration_ms, response_status, error)
      join webhook_delivery d on d.id = a.delivery_id
      on conflict (delivery_id, number) do nothing`,
  };
  await database.query(statement, [
    attempts.map(({ deliveryId }) => deliveryId),
    attempts.map(({ number }) => number),
    attempts.map(({ startedAt }) => startedAt),
    attempts.map(({ durationMs }) => durationMs),
    attempts.map(({ responseStatus }) => responseStatus),
    attempts.map(({ error }) => error),
  ]);
}

/** Ends deliveries: nothing is pending for them any more. Served by webhook_delivery_pkey, webhook_pending_delivery_pkey. */
export async function finishDeliveries(
  database: Database,
  deliveries: readonly { id: RecordId<'WebhookDelivery'>; status: 'DELIVERED' | 'FAILED' }[],
): Promise<void> {
  const statement = {
    name: 'finish-deliveries',
    text: `
      with finished as (
        update webhook_delivery d
        set status = f.status, settled_at = now()
        from unnest($1::bigint[], $2::text[]) as f (id, status)
        where d.id = f.id
        returning d.id
      )
      delete from webhook_pending_delivery p
      using finished
      where p.delivery_id = finished.id`,
  };
  await database.query(statement, [deliveries.map(({ id }) => id), deliveries.map(({ status }) => status)]);
}

/** Plans the next attempts, counted from the database's clock. Served by webhook_pending_delivery_pkey. */
export async function rescheduleDeliveries(
  database: Database,
  deliveries: readonly { id: RecordId<'WebhookDelivery'>; attempts: number; delayMs: number }[],
): Promise<void> {
  const statement = {
    name: 'reschedule-deliveries',
    text: `
      update webhook_pending_delivery p
      set attempts = r.attempts, due_at = now() + make_interval(secs => r.delay_ms / 1000)
      from unnest($1::bigint[], $2::int[], $3::float8[]) as r (id, attempts, delay_ms)
      where p.delivery_id = r.id`,
  };
  await database.query(statement, [
    deliveries.map(({ id }) => id),
    deliveries.map(({ attempts }) => attempts),
    deliveries.map(({ delayMs }) => delayMs),
  ]);
}

/**
 * Brings the due times of locked lanes up to date, and gives lanes back. A statement of its own after the lock: it must see
 * what was committed while it waited for it. Served by webhook_lane_pkey and webhook_pending_delivery_due.
 */
export async function refreshLanes(
  database: Database,
  lanes: readonly RecordId<'WebhookSubscription'>[],
  released: readonly RecordId<'WebhookSubscription'>[],
): Promise<void> {
  const statement = {
    name: 'refresh-lanes',
    text: `
      update webhook_lane l
      set due_at = (select min(p.due_at) from webhook_pending_delivery p where p.subscription_id = l.subscription_id),
        owner = case when l.subscription_id = any ($2) then null else l.owner end,
        leased_until = case when l.subscription_id = any ($2) then null else l.leased_until end
      where l.subscription_id = any ($1)`,
  };
  await database.query(statement, [lanes, released]);
}

/**
 * Pauses subscriptions whose callback URL said that it is gone, and their lanes with them. One that has another URL by now,
 * or is paused already, stays as it is. Served by webhook_subscription_pkey and webhook_lane_pkey.
 */
export async function pauseGoneSubscriptions(
  database: Database,
  gone: readonly { id: RecordId<'WebhookSubscription'>; callbackUrl: string }[],
): Promise<void> {
  const statement = {
    name: 'pause-gone-subscriptions',
    text: `
      with paused as (
        update webhook_subscription s
        set paused_reason = 'GONE', paused_at = now()
        from unnest($1::bigint[], $2::text[]) as g (id, callback_url)
        where s.id = g.id and s.callback_url = g.callback_url and s.paused_at is null and s.deleted_at is null
        returning s.id
      )
      update webhook_lane l
      set active = false
      from paused
      where l.subscription_id = paused.id`,
  };
  await database.query(statement, [gone.map(({ id }) => id), gone.map(({ callbackUrl }) => callbackUrl)]);
}
