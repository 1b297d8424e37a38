import type { RecordId } from '@deedwire/domain';
import type { Database } from '../store.ts';

/** A lane that its owner holds for as long as its lease lasts, under a token that no other owner has. */
export interface LaneLease {
  subscriptionId: RecordId<'WebhookSubscription'>;
  fencingToken: string;
}

/**
 * Takes free lanes with something due, the longest due first. Materialized: as a subquery it could run again for each row,
 * and lock more than `limit`. An array, because a join would read every lane once the plan is a generic one. Served by
 * webhook_lane_due and webhook_lane_pkey.
 */
export async function leaseLanes(
  database: Database,
  lease: { owner: string; forSeconds: number; limit: number },
): Promise<LaneLease[]> {
  const statement = {
    name: 'lease-lanes',
    text: `
      with due as materialized (
        select subscription_id
        from webhook_lane
        where active and due_at <= now() and (leased_until is null or leased_until <= now())
        order by due_at
        limit $3
        for no key update skip locked
      )
      update webhook_lane l
      set owner = $1, leased_until = now() + make_interval(secs => $2), fencing_token = l.fencing_token + 1
      where l.subscription_id = any (array(select subscription_id from due))
      returning l.subscription_id as "subscriptionId", l.fencing_token as "fencingToken"`,
  };
  return database.query<LaneLease>(statement, [lease.owner, lease.forSeconds, lease.limit]);
}

/**
 * Extends leases. The lanes are locked in the order in which fan-out locks them, so that neither waits for the other.
 * Served by webhook_lane_pkey.
 *
 * @returns those that are still held: a lane that is missing was paused, deleted, or taken over
 */
export async function renewLanes(
  database: Database,
  lanes: readonly LaneLease[],
  forSeconds: number,
): Promise<LaneLease[]> {
  const statement = {
    name: 'renew-lanes',
    text: `
      with held as materialized (
        select l.subscription_id
        from webhook_lane l
        join unnest($1::bigint[], $2::bigint[]) as h (subscription_id, fencing_token)
          on l.subscription_id = h.subscription_id and l.fencing_token = h.fencing_token
        where l.active and l.leased_until > now()
        order by l.subscription_id
        for no key update of l
      )
      update webhook_lane l
      set leased_until = now() + make_interval(secs => $3)
      from held
      where l.subscription_id = held.subscription_id
      returning l.subscription_id as "subscriptionId", l.fencing_token as "fencingToken"`,
  };
  return database.query<LaneLease>(statement, [
    lanes.map(({ subscriptionId }) => subscriptionId),
    lanes.map(({ fencingToken }) => fencingToken),
    forSeconds,
  ]);
}

/** How long until a lane that nobody holds is due, in milliseconds; null when none will be. Served by webhook_lane_due. */
export async function selectNextLaneDue(database: Database): Promise<number | null> {
  const statement = {
    name: 'select-next-lane-due',
    text: `
      select ceil(1000 * extract(epoch from min(greatest(due_at, leased_until)) - now()))::float8 as "dueInMs"
      from webhook_lane
      where active and due_at is not null`,
  };
  const [row] = await database.query<{ dueInMs: number | null }>(statement, []);
  return row?.dueInMs ?? null;
}

export interface DueDeliveryRow {
  subscriptionId: RecordId<'WebhookSubscription'>;
  deliveryId: RecordId<'WebhookDelivery'>;
  /** How many attempts have been made. */
  attempts: number;
  sequence: string;
  eventType: string;
  eventVersion: string;
  occurredAt: Date;
  /** The request that made the change which the event reports. Null: it was none to an interface. */
  requestId: string | null;
  body: Buffer;
  callbackUrl: string;
  secretCiphertext: Buffer;
}

/**
 * What is due in held lanes, at most `slots` from each, the longest due first. Nothing is written: who holds the lane
 * remembers what is in flight. Served by webhook_pending_delivery_due.
 */
export async function selectDueDeliveries(
  database: Database,
  lanes: readonly { subscriptionId: RecordId<'WebhookSubscription'>; slots: number }[],
  inFlight: readonly RecordId<'WebhookDelivery'>[],
): Promise<DueDeliveryRow[]> {
  const statement = {
    name: 'select-due-deliveries',
    text: `
      select due.subscription_id as "subscriptionId", due.delivery_id as "deliveryId", due.attempts, d.sequence,
        e.event_type as "eventType", d.event_version as "eventVersion", e.occurred_at as "occurredAt",
        e.request_id as "requestId", p.body, s.callback_url as "callbackUrl", s.secret_ciphertext as "secretCiphertext"
      from unnest($1::bigint[], $2::int[]) as lane (subscription_id, slots)
      cross join lateral (
        select w.subscription_id, w.delivery_id, w.attempts
        from webhook_pending_delivery w
        where w.subscription_id = lane.subscription_id and w.due_at <= now() and w.delivery_id <> all ($3::bigint[])
        order by w.due_at, w.sequence
        limit lane.slots
      ) due
      join webhook_subscription s on s.id = due.subscription_id and s.paused_at is null and s.deleted_at is null
      join webhook_delivery d on d.id = due.delivery_id
      join outbox_event e on e.id = d.event_id
      join webhook_payload p on p.event_id = d.event_id and p.event_version = d.event_version`,
  };
  return database.query<DueDeliveryRow>(statement, [
    lanes.map(({ subscriptionId }) => subscriptionId),
    lanes.map(({ slots }) => slots),
    inFlight,
  ]);
}
