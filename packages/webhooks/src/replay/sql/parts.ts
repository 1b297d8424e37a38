import { toRecordId } from '@deedwire/core';
import { type Database, sql } from '@deedwire/store';
import { idsPerDay, type DeliveryId, type SubscriptionId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/sql.ts';
import type { OpenReplay, ReplayedDelivery, ReplayPart } from '../storage.ts';

const rowsPerPart = 256;

// Rows need an index signature.
type ReplayedRow = ReplayedDelivery & Record<string, unknown>;

// Each day costs 4 locks.
const daysPerPart = 10n;

// webhook_delivery_by_subscription, in the partitions between both ids.
const selectDeliveriesStatement = sql('select-deliveries-to-replay')`
    select id, event_id as "eventId", event_type as "eventType", event_version as "eventVersion",
      round(date_part('epoch', occurred_at) * 1000) as "occurredAtMs", sequence
    from webhook_delivery
    where subscription_id = $1 and id > $2 and id < $3
    order by id
    limit (select $4::int)`;

// webhook_failed_delivery by primary key.
const selectFailedStatement = sql('select-failures-to-replay')`
    select coalesce(array_agg(delivery_id::text order by delivery_id), '{}') as ids
    from (
      select delivery_id
      from webhook_failed_delivery
      where subscription_id = $1 and delivery_id > $2 and delivery_id < $3
      order by delivery_id
      limit (select $4::int)
    ) failed`;

// Compares the subscription: an app writes the delivery of a retry.
// The limit keeps this a lookup per delivery. webhook_delivery by primary key, in the partitions between both ids.
const selectByIdStatement = sql('select-failed-deliveries-to-replay')`
    select d.id, d.event_id as "eventId", d.event_type as "eventType", d.event_version as "eventVersion",
      round(date_part('epoch', d.occurred_at) * 1000) as "occurredAtMs", d.sequence
    from unnest($1::bigint[]) with ordinality listed (id, number)
    cross join lateral (
      select *
      from webhook_delivery
      where id = listed.id and id between $2 and $3 and subscription_id = $4
      limit 1
    ) d
    order by listed.number`;

/**
 * Reads the next part of a replay: at most 256 deliveries that were created within 10 days, without those of other types and
 * sequences.
 */
export async function selectPart(database: Database, replay: OpenReplay, after: DeliveryId): Promise<ReplayPart> {
  const part = replay.onlyFailed
    ? await selectFailed(database, replay, after)
    : await selectEvery(database, replay, after);
  return { ...part, deliveries: part.deliveries.filter((delivery) => matches(replay, delivery)) };
}

function matches(
  { eventTypes, fromSequence, untilSequence }: OpenReplay,
  { eventType, sequence }: ReplayedDelivery,
): boolean {
  if (eventTypes !== null && !eventTypes.includes(eventType)) return false;
  if (fromSequence !== null && BigInt(sequence) < BigInt(fromSequence)) return false;
  return untilSequence === null || BigInt(sequence) < BigInt(untilSequence);
}

/** The delivery of a retry. Empty if its partition was dropped, or if it is none of the subscription. */
export function selectDelivery(database: Database, { lane }: OpenReplay, id: DeliveryId): Promise<ReplayedDelivery[]> {
  return database.query<ReplayedRow>(selectByIdStatement, [pgArray([id]), id, id, lane.subscriptionId]);
}

async function selectEvery(database: Database, { lane, untilId }: OpenReplay, after: DeliveryId): Promise<ReplayPart> {
  const until = BigInt(untilId);
  const end = endOfPart(BigInt(after) + 1n, until);
  const values = [lane.subscriptionId, after, String(end), rowsPerPart];
  const deliveries = await database.query<ReplayedRow>(selectDeliveriesStatement, values);
  const isFull = deliveries.length === rowsPerPart;
  return {
    deliveries,
    lastId: (isFull ? deliveries.at(-1)?.id : undefined) ?? toRecordId<'WebhookDelivery'>(String(end - 1n)),
    isLast: !isFull && end === until,
  };
}

async function selectFailed(database: Database, { lane, untilId }: OpenReplay, after: DeliveryId): Promise<ReplayPart> {
  const ids = await selectFailedIds(database, lane.subscriptionId, [after, untilId]);
  const [first] = ids;
  if (first === undefined)
    return { deliveries: [], lastId: toRecordId<'WebhookDelivery'>(String(BigInt(untilId) - 1n)), isLast: true };
  const end = endOfPart(BigInt(first), BigInt(untilId));
  const near = ids.filter((id) => BigInt(id) < end);
  const lastId = near.at(-1) ?? first;
  const deliveries = await database.query<ReplayedRow>(selectByIdStatement, [
    pgArray(near),
    first,
    lastId,
    lane.subscriptionId,
  ]);
  return { deliveries, lastId, isLast: near.length === ids.length && ids.length < rowsPerPart };
}

async function selectFailedIds(
  database: Database,
  subscriptionId: SubscriptionId,
  [after, until]: [after: DeliveryId, until: DeliveryId],
): Promise<DeliveryId[]> {
  const [row] = await database.query<{ ids: DeliveryId[] }>(selectFailedStatement, [
    subscriptionId,
    after,
    until,
    rowsPerPart,
  ]);
  return row?.ids ?? [];
}

/** The end of the days of a part that begins with this id, or of the range. */
function endOfPart(first: bigint, until: bigint): bigint {
  const end = (first / idsPerDay + daysPerPart) * idsPerDay;
  return end < until ? end : until;
}
