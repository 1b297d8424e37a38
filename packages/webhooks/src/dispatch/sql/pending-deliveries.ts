import { type Database, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import type { AccountId, DeliveryId, EventId, ReplayId, SubscriptionId } from '../../kernel/ids.ts';
import { noClaims, originOf, type PendingDelivery } from '../../kernel/pending-delivery.ts';
import { idRange, isHome, pgArray, pgTextArray, pendingRow, unlockedPendingRow } from '../../kernel/sql.ts';
import { soonMs } from '../lane-walk.ts';
import type { ClaimedDelivery, DeliveryKey, Refill, RefillOptions, Walk, WalkOptions } from '../storage.ts';

/**
 * Deliveries that are due later than this stay in storage. After a handover, the former owner may still record their
 * results.
 */
const readAheadMs = 1_000;

/**
 * Nothing postpones a delivery for so long that was not sent yet: a handover takes at most 17 s, and a proxy that fails 15 s. One that is due
 * later was written before the clock of the database was set back.
 */
const unsentWaitMaxMs = 60_000;

/**
 * Reads the first deliveries of a lane with their bodies. Skips deliveries without a payload.
 *
 * @param onPayloadMissing called for each delivery that has no payload although it has not expired
 */
export async function refillLane(
  database: Database,
  workerId: WorkerId,
  lane: SubscriptionId,
  { fromDueAtMs, limit, bodyBytesMax, exclude }: RefillOptions,
  onPayloadMissing: (delivery: StoredDelivery) => void,
): Promise<Refill> {
  for (let position: LanePosition = { ...laneStart, dueAtMs: fromDueAtMs }; ;) {
    // One row more than can be returned: its due time decides when to read the lane again.
    const { nowMs, deliveries: rows } = await selectPendingDeliveries(
      database,
      workerId,
      lane,
      position,
      exclude,
      limit + 1,
    );
    const due = rows.filter((row) => isDue(row, nowMs));
    const chosen = due.slice(0, countWithin(due, limit, bodyBytesMax));
    // Both are in the same order.
    const next = rows.find((row, index) => row !== chosen[index]);
    const soon = chosen.map((row) => ({ ...row, dueAtMs: Math.min(row.dueAtMs, nowMs + readAheadMs) }));
    const deliveries = await withBodies(database, soon, onPayloadMissing);
    const last = chosen.at(-1);
    // If every payload of this part is missing, continues after it. Otherwise the lane would read this part forever.
    if (deliveries.length > 0 || next === undefined || last === undefined) {
      return { deliveries, nextDueAtMs: next?.dueAtMs ?? null };
    }
    position = last;
  }
}

async function withBodies(
  database: Database,
  rows: readonly StoredDelivery[],
  onPayloadMissing: (delivery: StoredDelivery) => void,
): Promise<PendingDelivery[]> {
  const bodies = rows.length === 0 ? [] : await selectPayloads(database, rows);
  const deliveries: PendingDelivery[] = [];
  for (const [index, row] of rows.entries()) {
    const body = bodies[index];
    if (body !== undefined) deliveries.push({ ...row, body });
    // Without a size, it is being erased.
    else if (row.bodyBytes > 0) onPayloadMissing(row);
  }
  return deliveries;
}

function isDue({ dueAtMs, attempts, priorAttempts }: StoredDelivery, nowMs: number): boolean {
  return dueAtMs <= nowMs + readAheadMs || (attempts === priorAttempts && dueAtMs > nowMs + unsentWaitMaxMs);
}

/** How many of the first rows are within both bounds. At least one, if there is any. */
function countWithin(rows: readonly StoredDelivery[], limit: number, bodyBytesMax: number): number {
  let bodyBytes = 0;
  for (const [index, row] of rows.entries()) {
    bodyBytes += row.bodyBytes;
    if (index === limit || (index > 0 && bodyBytes > bodyBytesMax)) return index;
  }
  return rows.length;
}

const pendingTuple = `json_build_array(delivery_id::text, account_id::text, event_id::text, event_type, event_version,
        round(date_part('epoch', occurred_at) * 1000), request_id, sequence::text, attempts, claimed_at,
        round(date_part('epoch', due_at) * 1000), body_bytes, prior_attempts, replay_id::text, is_test)`;

// One row with JSON: a row per delivery would cost the worker several times as much. Ids are texts, because JSON.parse
// rounds large numbers. Expired deliveries no longer have a payload; retention deletes them.
// The subselect hides the limit from the planner, which then expects it to cut off most rows, and reads in the order of the
// index. With the value, it would read and sort all rows of a lane whose length it underestimates.
// webhook_pending_delivery_due, webhook_worker by primary key.
const selectPendingStatement = sql('select-pending-deliveries')`
    select exists (select from webhook_worker where id = $1 and alive) as "isAlive",
      date_part('epoch', clock_timestamp()) * 1000 as now_ms,
      coalesce(json_agg(${pendingTuple} order by due_at, sequence), '[]') as deliveries
    from (
      select *
      from webhook_pending_delivery
      where subscription_id = $2 and (due_at, sequence) > (to_timestamp($3::float8 / 1000), $4::bigint)
        and delivery_id <> all($5::bigint[])
        and delivery_id >= (select expired_before from webhook_retention)
      order by due_at, sequence
      limit (select $6::int)
    ) first_deliveries`;

/** Where the previous part of a lane ended: the last delivery that was read. */
export interface LanePosition {
  readonly dueAtMs: number;
  readonly sequence: string;
}

export const laneStart: LanePosition = { dueAtMs: -Infinity, sequence: '0' };

type PendingTuple = [
  deliveryId: DeliveryId,
  accountId: AccountId,
  eventId: EventId,
  eventType: string,
  eventVersion: string,
  occurredAtMs: number,
  requestId: string | null,
  sequence: string,
  attempts: number,
  claimedAt: readonly string[] | null,
  dueAtMs: number,
  bodyBytes: number,
  priorAttempts: number,
  replayId: ReplayId | null,
  isTest: boolean,
];

/** A pending delivery without its body. */
export interface StoredDelivery extends Omit<PendingDelivery, 'body'> {
  readonly bodyBytes: number;
}

export interface PendingDeliveries {
  readonly nowMs: number;
  readonly deliveries: readonly StoredDelivery[];
}

/** Reads the first deliveries of a subscription after a position, in the order of due time and sequence. */
export async function selectPendingDeliveries(
  database: Database,
  workerId: WorkerId,
  subscriptionId: SubscriptionId,
  after: LanePosition,
  exclude: readonly DeliveryId[],
  limit: number,
): Promise<PendingDeliveries> {
  const values = [workerId, subscriptionId, after.dueAtMs, after.sequence, pgArray(exclude), limit];
  const rows = await database.query<{ isAlive: boolean; now_ms: number; deliveries: PendingTuple[] }>(
    selectPendingStatement,
    values,
  );
  const row = rowOfLiveWorker(rows, workerId);
  return { nowMs: row.now_ms, deliveries: toStoredDeliveries(subscriptionId, row.deliveries) };
}

function toStoredDeliveries(subscriptionId: SubscriptionId, tuples: readonly PendingTuple[]): StoredDelivery[] {
  return tuples.map(
    ([deliveryId, accountId, eventId, eventType, eventVersion, occurredAtMs, requestId, sequence, ...rest]) => {
      const [attempts, claimedAt, dueAtMs, bodyBytes, priorAttempts, replayId, isTest] = rest;
      const occurredAt = new Date(occurredAtMs);
      return {
        deliveryId,
        subscriptionId,
        accountId,
        eventId,
        eventType,
        eventVersion,
        occurredAt,
        ...originOf(requestId),
        sequence,
        attempts,
        priorAttempts,
        replayId,
        claims: claimedAt === null ? noClaims : claimedAt.map((time) => new Date(time)),
        dueAtMs,
        bodyBytes,
        isTest,
      };
    },
  );
}

/** How many pending deliveries a statement of a walk examines. */
const walkedRows = 512;

// webhook_pending_delivery and webhook_worker by primary key. The subselect hides the limit from the planner, as above.
const walkStatement = sql('walk-pending-deliveries')`
    select exists (select from webhook_worker where id = $1 and alive) as "isAlive",
      coalesce(json_agg(${pendingTuple} order by delivery_id) filter (where is_hastened and number <= $7), '[]') as deliveries,
      case when count(*) = ${walkedRows} then max(delivery_id)::text end as "readTo",
      coalesce(bool_or(last_is_transient and last_attempt_at >= to_timestamp($5::float8 / 1000)), false) as "hasFailedSince"
    from (
      select *, count(*) filter (where is_hastened) over (order by delivery_id) as number
      from (
        select *, due_at > clock_timestamp() + interval '${soonMs} milliseconds' and delivery_id <> all($4::bigint[])
          and (last_attempt_at < to_timestamp($6::float8 / 1000)
            or (last_is_transient and last_attempt_at < to_timestamp($5::float8 / 1000))) as is_hastened
        from webhook_pending_delivery
        where subscription_id = $2 and delivery_id > $3 and delivery_id >= (select expired_before from webhook_retention)
        order by delivery_id
        limit (select ${walkedRows})
      ) walked
    ) numbered`;

/**
 * Reads the deliveries that the marks make due among the next ones of a lane. Skips deliveries without a payload.
 *
 * @param onPayloadMissing called for each delivery that has no payload although it has not expired
 */
export async function walkLane(
  database: Database,
  workerId: WorkerId,
  lane: SubscriptionId,
  { marks, after, limit, bodyBytesMax, exclude }: WalkOptions,
  onPayloadMissing: (delivery: StoredDelivery) => void,
): Promise<Walk> {
  type Row = { isAlive: boolean; deliveries: PendingTuple[]; readTo: string | null; hasFailedSince: boolean };
  // One delivery more than can be returned: it shows that the walk continues after the last one that is.
  const values = [workerId, lane, after, pgArray(exclude), marks.hastenedAtMs, marks.sendPendingAtMs, limit + 1];
  const row = rowOfLiveWorker(await database.query<Row>(walkStatement, values), workerId);
  const rows = toStoredDeliveries(lane, row.deliveries);
  const chosen = rows.slice(0, countWithin(rows, limit, bodyBytesMax));
  return {
    deliveries: await withBodies(database, chosen, onPayloadMissing),
    readTo: chosen.length < rows.length ? (chosen.at(-1)?.deliveryId ?? after) : row.readTo,
    hasFailedSince: row.hasFailedSince,
  };
}

// The limit keeps this a lookup per payload. A hash join would read all payloads between the first and the last id.
// webhook_payload by primary key, in the partitions between the first and the last id.
const selectPayloadsStatement = sql('select-payloads')`
    select r.number::int as number, p.body
    from unnest($1::bigint[], $2::text[]) with ordinality r (event_id, event_version, number)
    cross join lateral (
      select body
      from webhook_payload
      where event_id = r.event_id and event_version = r.event_version and event_id between $3 and $4
      limit 1
    ) p`;

/** Reads bodies in the order of `keys`. An element is undefined if there is no payload. */
export async function selectPayloads(
  database: Database,
  keys: readonly { eventId: EventId; eventVersion: string }[],
): Promise<(Buffer | undefined)[]> {
  const ids = keys.map(({ eventId }) => eventId);
  const versions = pgTextArray(keys.map(({ eventVersion }) => eventVersion));
  const values = [pgArray(ids), versions, ...idRange(ids)];
  const bodies = Array.from<Buffer | undefined>({ length: keys.length });
  for (const { number, body } of await database.query<{ number: number; body: Buffer }>(
    selectPayloadsStatement,
    values,
  )) {
    bodies[number - 1] = body;
  }
  return bodies;
}

// A call whose outcome was unknown is repeated, and a lane that is reloaded may count again: neither adds a second claim.
// webhook_pending_delivery by primary key.
const countClaimsStatement = sql('count-delivery-claims')`
    with ${liveWorker}, counted as (
      update webhook_pending_delivery p
      set claimed_at = coalesce(p.claimed_at[:r.claims], '{}') || now()
      from worker, unnest($2::bigint[], $3::bigint[], $4::int[]) r (subscription_id, delivery_id, claims)
      where p.ctid = ${unlockedPendingRow} and coalesce(cardinality(p.claimed_at), 0) between r.claims and r.claims + 1
        and ${isHome('p.account_id')}
      returning p.delivery_id
    )
    select exists (select from worker) as "isAlive", array(select delivery_id::text from counted) as counted`;

/**
 * Returns the deliveries that were counted: those that are pending with these claims or one more, and that no other transaction
 * has locked.
 *
 * @throws {FencedOutError} if the worker was declared dead. Nothing was counted.
 */
export async function countClaims(
  database: Database,
  workerId: WorkerId,
  deliveries: readonly ClaimedDelivery[],
): Promise<ReadonlySet<DeliveryId>> {
  const values = [
    workerId,
    pgArray(deliveries.map(({ subscriptionId }) => subscriptionId)),
    pgArray(deliveries.map(({ deliveryId }) => deliveryId)),
    pgArray(deliveries.map(({ claims }) => claims.length)),
  ];
  const rows = await database.query<{ isAlive: boolean; counted: DeliveryId[] }>(countClaimsStatement, values);
  return new Set(rowOfLiveWorker(rows, workerId).counted);
}

// The rows are locked in the order of the deliveries.
// webhook_pending_delivery by primary key.
const lockPendingStatement = sql('lock-pending-deliveries')`
    select
    from unnest($1::bigint[], $2::bigint[]) r (subscription_id, delivery_id)
    join webhook_pending_delivery p on p.ctid = ${pendingRow}
    for update of p`;

/**
 * Waits for transactions that are recording results of these deliveries, and blocks new ones.
 *
 * @param deliveries in the order of subscription and delivery
 */
export async function lockPendingDeliveries(database: Database, deliveries: readonly DeliveryKey[]): Promise<void> {
  const subscriptions = pgArray(deliveries.map(({ subscriptionId }) => subscriptionId));
  await database.query(lockPendingStatement, [subscriptions, pgArray(deliveries.map(({ deliveryId }) => deliveryId))]);
}
