import { type AccountId, timeOf } from '@deedwire/core';
import { type Database, firstRow, onlyRow, sql } from '@deedwire/store';
import type { IdRange, DeliveryId, SubscriptionId, EventId } from '@deedwire/webhooks/tables';

/** A subscription, as it was when a statement read it. */
export interface PulledSubscription {
  id: SubscriptionId;
  /** 0 before its first delivery. */
  lastSequence: number;
  /** Deliveries with a smaller id have expired. */
  expiredBefore: bigint;
  /** By the clock of the database. */
  now: Date;
  /** A listener of which no read was noted within the last hour. */
  mustNoteRead: boolean;
}

type PulledRow = Pick<PulledSubscription, 'mustNoteRead' | 'now'> & { lastSequence: string; expiredBefore: string };

/** A listener is stored as a subscription that is never sent. */
export type PulledKind = 'PUSH' | 'LISTENER';

/**
 * Null if the account has no such subscription, or has deleted it.
 *
 * Served by webhook_subscription_pkey and webhook_subscription_sequence_pkey.
 *
 * @param accountId null for any account
 */
export async function selectPulledSubscription(
  database: Database,
  accountId: AccountId | null,
  id: SubscriptionId,
  kind: PulledKind,
): Promise<PulledSubscription | null> {
  const statement = sql('select-pulled-subscription')`
      select q.last_sequence as "lastSequence", r.expired_before as "expiredBefore", clock_timestamp() as now,
        coalesce(s.last_read_at < now() - interval '1 hour', false) as "mustNoteRead"
      from webhook_subscription s
      join webhook_subscription_sequence q on q.subscription_id = s.id
      cross join webhook_retention r
      where s.id = $1 and s.account_id = coalesce($2, s.account_id) and s.kind = $3 and s.deleted_at is null`;
  const row = firstRow(await database.query<PulledRow>(statement, [id, accountId, kind]));
  if (row === null) return null;
  const { lastSequence, expiredBefore, now, mustNoteRead } = row;
  return { id, lastSequence: Number(lastSequence), expiredBefore: BigInt(expiredBefore), now, mustNoteRead };
}

/**
 * The number of a delivery of a subscription. Null if there is none with this id.
 *
 * Served by webhook_delivery_pkey. The id selects the partition.
 */
export async function selectNumberOf(
  database: Database,
  subscriptionId: SubscriptionId,
  deliveryId: bigint,
): Promise<number | null> {
  const statement = sql(
    'select-number-of-delivery',
    'for-values',
  )`select sequence from webhook_delivery where id = $2::bigint and subscription_id = $1`;
  const row = firstRow(await database.query<{ sequence: string }>(statement, [subscriptionId, deliveryId]));
  return row === null ? null : Number(row.sequence);
}

type SelectedRow = Omit<NumberedRow, 'sequence'> & { sequence: string };

function toNumberedRow(row: SelectedRow): NumberedRow {
  return { ...row, sequence: Number(row.sequence) };
}

const columns = `id, sequence, event_id as "eventId", event_type as "eventType", event_version as "eventVersion",
          occurred_at as "occurredAt", is_test as "isTest", erased_at is not null as "isErased"`;

// Requests of an interface commit within it: the server ends statements and idle transactions after 10 s.
const commitMs = 60_000;

/** Returns the time before which every event of an account has been numbered, for pages that are read later. */
export async function selectNumberedUntil(database: Database, accountId: AccountId): Promise<Date> {
  const statement = sql(
    'select-numbered-until',
    'in-index-order',
  )`select clock_timestamp() as now, webhook_oldest_queued_event($1::bigint) as oldest`;
  return numberedUntil(onlyRow(await database.query<OldestQueued>(statement, [accountId])));
}

/**
 * As `selectNumberedUntil`, for operators, who may read the queue, with the time of the oldest event that waits: null if none does.
 * Reads all that waits for the account.
 *
 * Served by webhook_subscription_pkey, webhook_event_queue_by_account and webhook_event_queue_blocked.
 */
export async function selectNumberedUntilOf(
  database: Database,
  id: SubscriptionId,
): Promise<{ numberedUntil: Date; waitingSince: Date | null }> {
  const statement = sql('select-numbered-until-of-subscription')`
      select clock_timestamp() as now, (
        select min(q.event_id)
        from webhook_subscription s
        join webhook_event_queue q on q.shard = (s.account_id & 63)::smallint and q.account_id = s.account_id
        where s.id = $1
      ) as oldest`;
  const row = onlyRow(await database.query<OldestQueued>(statement, [id]));
  return { numberedUntil: numberedUntil(row), waitingSince: row.oldest === null ? null : timeOf(row.oldest) };
}

interface OldestQueued {
  now: Date;
  /** Null if no event waits. */
  oldest: EventId | null;
}

function numberedUntil({ now, oldest }: OldestQueued): Date {
  return new Date((oldest === null ? now : timeOf(oldest)).getTime() - commitMs);
}

/** The numbers after `after`, up to `until`. */
export interface SequenceRange {
  after: number;
  until: number;
}

/**
 * Returns the deliveries of a range of ids whose numbers are in `sequences`. Reads all deliveries of the range.
 *
 * Served by webhook_delivery_by_subscription. The bounds of the ids select the partitions. `= any (array[…])` and the order of the
 * index force it, as in `selectDeliveryIds`.
 */
export async function selectNumbered(
  database: Database,
  subscriptionId: SubscriptionId,
  { min, before }: IdRange,
  { after, until }: SequenceRange,
): Promise<NumberedRow[]> {
  const statement = sql('select-numbered-deliveries', 'in-index-order')`
      select ${columns}
      from webhook_delivery
      where subscription_id = any (array[$1::bigint]) and id >= $2::bigint and id < $3::bigint
        and sequence > $4::bigint and sequence <= $5::bigint
      order by subscription_id, id`;
  const rows = await database.query<SelectedRow>(statement, [subscriptionId, min, before, after, until]);
  return rows.map(toNumberedRow);
}

/** The deliveries that a limited read found. */
export interface OldestNumbered {
  rows: NumberedRow[];
  /** The number of the last delivery of the subscription, in the same snapshot. */
  lastSequence: number;
  /** The last delivery that was read, if the limit ended the read. Null if the range has no others. */
  readTo: bigint | null;
}

// Ids follow the clock, but within a millisecond they wrap around, and rounds of several accounts draw theirs between each other:
// the order of ids and the order of numbers differ by up to 181 places [measured].
const readBeyondPage = 512;

/**
 * Returns deliveries whose numbers are in `sequences`, among the oldest of a range of ids: as many as there are numbers, and 512.
 * One snapshot: every delivery up to `lastSequence` is visible in it, because the row of the sequence stays locked until the
 * transaction that numbered them is visible.
 *
 * Served by webhook_subscription_sequence_pkey and webhook_delivery_by_subscription.
 */
export async function selectOldestNumbered(
  database: Database,
  subscriptionId: SubscriptionId,
  { min, before }: IdRange,
  { after, until }: SequenceRange,
): Promise<OldestNumbered> {
  const statement = sql('select-oldest-numbered-deliveries', 'in-index-order')`
      with oldest as materialized (
        select ${columns}
        from webhook_delivery
        where subscription_id = any (array[$1::bigint]) and id >= $2::bigint and id < $3::bigint
        order by subscription_id, id
        limit $4
      )
      select
        (select last_sequence from webhook_subscription_sequence where subscription_id = $1) as "lastSequence",
        (select case when count(*) = $4 then max(id) end from oldest) as "readTo",
        (select coalesce(json_agg(json_build_object(
            'id', id::text, 'sequence', sequence, 'eventId', "eventId"::text, 'eventType', "eventType", 'eventVersion',
            "eventVersion", 'occurredAt', (extract(epoch from "occurredAt") * 1000)::bigint, 'isTest', "isTest", 'isErased',
            "isErased"
          )), '[]')
          from oldest
          where sequence > $5::bigint and sequence <= $6::bigint) as rows`;
  type StoredRow = Omit<NumberedRow, 'occurredAt'> & { occurredAt: number };
  const row = onlyRow(
    await database.query<{ lastSequence: string; readTo: string | null; rows: StoredRow[] }>(statement, [
      subscriptionId,
      min,
      before,
      until - after + readBeyondPage,
      after,
      until,
    ]),
  );
  return {
    rows: row.rows.map((stored) => ({ ...stored, occurredAt: new Date(stored.occurredAt) })),
    lastSequence: Number(row.lastSequence),
    readTo: row.readTo === null ? null : BigInt(row.readTo),
  };
}

export interface NumberedId {
  id: DeliveryId;
  sequence: number;
}

const readForNumbers = 512;

/** The numbers of at most 512 deliveries of a range of ids: of the oldest, or of the newest. Served by webhook_delivery_by_subscription. */
export async function selectNumbers(
  database: Database,
  subscriptionId: SubscriptionId,
  { min, before }: IdRange,
  end: 'oldest' | 'newest',
): Promise<NumberedId[]> {
  const direction = end === 'oldest' ? 'asc' : 'desc';
  const statement = sql(`select-${end}-numbers`, 'in-index-order')`
      select id, sequence
      from webhook_delivery
      where subscription_id = any (array[$1::bigint]) and id >= $2::bigint and id < $3::bigint
      order by subscription_id ${direction}, id ${direction}
      limit ${readForNumbers}`;
  const rows = await database.query<{ id: DeliveryId; sequence: string }>(statement, [subscriptionId, min, before]);
  return rows.map(({ id, sequence }) => ({ id, sequence: Number(sequence) }));
}

/** The lowest number of a range of ids. Null if it has no delivery. Reads all of them. Served by webhook_delivery_by_subscription. */
export async function selectLowestNumber(
  database: Database,
  subscriptionId: SubscriptionId,
  { min, before }: IdRange,
): Promise<number | null> {
  const statement = sql('select-lowest-number', 'in-index-order')`
      select min(sequence) as lowest
      from webhook_delivery
      where subscription_id = any (array[$1::bigint]) and id >= $2::bigint and id < $3::bigint`;
  const { lowest } = onlyRow(await database.query<{ lowest: string | null }>(statement, [subscriptionId, min, before]));
  return lowest === null ? null : Number(lowest);
}

/**
 * Returns the last numbers of those subscriptions that have one above `after`. One statement for all requests that wait.
 *
 * Served by webhook_subscription_sequence_pkey, and by webhook_subscription_pkey for deleted ones.
 *
 * @param subscriptionIds as `bigint[]` of PostgreSQL
 * @param after the numbers, likewise
 * @param withDeleted returns deleted subscriptions too, with Infinity
 */
export async function selectAdvanced(
  database: Database,
  subscriptionIds: string,
  after: string,
  withDeleted: boolean,
): Promise<Map<SubscriptionId, number>> {
  const deleted = `
      union all
      select w.id, null
      from unnest($1::bigint[]) as w (id)
      left join lateral (
        select id
        from webhook_subscription
        where id = w.id and deleted_at is null
        limit 1
      ) s on true
      where s.id is null`;
  const statement = {
    name: withDeleted ? 'select-advanced-or-deleted' : 'select-advanced-sequences',
    text: `
      select w.id, q.last_sequence as "lastSequence"
      from unnest($1::bigint[], $2::bigint[]) as w (id, after)
      cross join lateral (
        select last_sequence
        from webhook_subscription_sequence
        where subscription_id = w.id
        limit 1
      ) q
      where q.last_sequence > w.after${withDeleted ? deleted : ''}`,
  };
  const rows = await database.query<{ id: SubscriptionId; lastSequence: string | null }>(statement, [
    subscriptionIds,
    after,
  ]);
  return new Map(rows.map(({ id, lastSequence }) => [id, lastSequence === null ? Infinity : Number(lastSequence)]));
}

/** Those of the deliveries that could not be rendered. Served by webhook_attempt_pkey. The bounds of the ids select the partitions. */
export async function selectNotRendered(
  database: Database,
  ids: readonly DeliveryId[],
  { min, before }: IdRange,
): Promise<DeliveryId[]> {
  const statement = sql('select-not-rendered', 'for-values')`
      select a.id
      from unnest($1::bigint[]) as d (id)
      cross join lateral (
        select delivery_id as id
        from webhook_attempt
        where delivery_id = d.id and number = 1 and error = 'RENDERING_FAILED'
          and delivery_id >= $2::bigint and delivery_id < $3::bigint
        limit 1
      ) a`;
  return (await database.query<{ id: DeliveryId }>(statement, [ids, min, before])).map(({ id }) => id);
}

/** A delivery with its number, as pull reads it. */
export interface NumberedRow {
  id: DeliveryId;
  sequence: number;
  eventId: EventId;
  eventType: string;
  eventVersion: string;
  occurredAt: Date;
  isTest: boolean;
  /** Its payload is erased. */
  isErased: boolean;
}
