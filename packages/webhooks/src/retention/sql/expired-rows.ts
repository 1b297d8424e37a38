import { nearestIdAt } from '@deedwire/core';
import { type Database, onlyRow, sql } from '@deedwire/store';
import type { DeliveryId, EventId, ReplayId, SubscriptionId, Shard } from '../../kernel/ids.ts';
import { isHome, isOfHome } from '../../kernel/sql.ts';

/** The result of one batch of a walk over a table. */
export interface Batch<Key> {
  /** Where the next batch continues. Null at the end of the table. */
  readonly next: Key | null;
  readonly changed: number;
  /** Rows that are due, but locked by another transaction. */
  readonly skipped: number;
}

/** How many rows a batch reads. */
export const batchRows = 5_000;

/** The row that a batch statement returns. A type alias, because rows need an index signature. */
type BatchRow<Key> = {
  /** How many rows it read. */
  scanned: number;
  /** How many of these are due. */
  due: number;
  changed: number;
  /** The last row that it read. */
  last: Key | null;
};

function toBatch<Key>({ scanned, due, changed, last }: BatchRow<Key>): Batch<Key> {
  return { next: scanned < batchRows ? null : last, changed, skipped: due - changed };
}

/** Gives undelivered deliveries with smaller ids the status EXPIRED. The bound never moves back. */
export async function advanceExpiredBefore(database: Database, expiredBefore: DeliveryId): Promise<void> {
  // webhook_retention has one row.
  const statement = sql(
    'advance-expired-before',
  )`update webhook_retention set expired_before = $1 where expired_before < $1`;
  await database.query(statement, [expiredBefore]);
}

export interface PendingKey {
  readonly subscriptionId: SubscriptionId;
  readonly deliveryId: DeliveryId;
}

/**
 * Expires pending deliveries: those with an id before `deliveriesBefore`, and those whose event and payload will be
 * dropped. Reads one batch of the table in the order of its primary key.
 *
 * Skips rows that are being settled. It never waits for a lock, and other statements wait for its locks during one batch
 * only.
 */
export async function expirePendingDeliveries(
  database: Database,
  bounds: { deliveriesBefore: DeliveryId; eventsBefore: EventId },
  after: PendingKey | null,
): Promise<Batch<PendingKey>> {
  // Index: the primary key of webhook_pending_delivery.
  const statement = sql('expire-pending-deliveries')`
      with scanned as materialized (
        select ctid, subscription_id, delivery_id, (delivery_id < $3 or event_id < $4) and ${isHome('p.account_id')} as is_expired
        from webhook_pending_delivery p
        where (subscription_id, delivery_id) > ($1::bigint, $2::bigint)
        order by subscription_id, delivery_id
        limit $5
      ),
      locked as (
        select p.ctid
        from scanned s
        join webhook_pending_delivery p on p.ctid = s.ctid
        where s.is_expired
        for update of p skip locked
      ),
      ended as (
        delete from webhook_pending_delivery p
        using locked
        where p.ctid = locked.ctid
        returning p.subscription_id, p.delivery_id, p.interface
      ),
      failed as (
        insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
        select subscription_id, delivery_id, interface from ended
        on conflict do nothing
      )
      select count(*)::int as scanned,
        (count(*) filter (where is_expired))::int as due,
        (select count(*) from ended)::int as changed,
        (select jsonb_build_object('subscriptionId', subscription_id::text, 'deliveryId', delivery_id::text)
         from scanned order by subscription_id desc, delivery_id desc limit 1) as last
      from scanned`;
  const { deliveriesBefore, eventsBefore } = bounds;
  const values = [after?.subscriptionId ?? 0, after?.deliveryId ?? 0, deliveriesBefore, eventsBefore, batchRows];
  return toBatch(onlyRow(await database.query<BatchRow<PendingKey>>(statement, values)));
}

export interface QueueKey {
  readonly shard: Shard;
  readonly position: string;
}

/**
 * Deletes queued events whose partitions will be dropped. A round that has read one of them then writes nothing, because
 * its entry is missing. Reads one batch of the queue in the order of its primary key. Skips entries that are being fanned
 * out.
 */
export async function deleteExpiredQueueEntries(
  database: Database,
  eventsBefore: EventId,
  after: QueueKey | null,
): Promise<Batch<QueueKey>> {
  // Index: the primary key of webhook_event_queue.
  const statement = sql('delete-expired-queue-entries')`
      with scanned as materialized (
        select ctid, shard, position, coalesce(event_id < $3, false) and ${isHome('q.account_id')} as is_expired
        from webhook_event_queue q
        where (shard, position) > ($1::smallint, $2::bigint)
        order by shard, position
        limit $4
      ),
      locked as (
        select q.ctid
        from scanned s
        join webhook_event_queue q on q.ctid = s.ctid
        where s.is_expired
        for update of q skip locked
      ),
      deleted as (
        delete from webhook_event_queue q
        using locked
        where q.ctid = locked.ctid
        returning q.position
      )
      select count(*)::int as scanned,
        (count(*) filter (where is_expired))::int as due,
        (select count(*) from deleted)::int as changed,
        (select jsonb_build_object('shard', shard, 'position', position::text)
         from scanned order by shard desc, position desc limit 1) as last
      from scanned`;
  const values = [after?.shard ?? -1, after?.position ?? 0, eventsBefore, batchRows];
  return toBatch(onlyRow(await database.query<BatchRow<QueueKey>>(statement, values)));
}

/**
 * Deletes failures of deliveries whose partitions were dropped, and not before: without its failure, a delivery counts as
 * delivered. Reads one batch of the table in the order of its primary key.
 */
export async function deleteOldFailures(
  database: Database,
  deliveriesBefore: DeliveryId,
  after: PendingKey | null,
): Promise<Batch<PendingKey>> {
  // Index: the primary key of webhook_failed_delivery.
  const statement = sql('delete-old-failures')`
      with scanned as materialized (
        select ctid, subscription_id, delivery_id, delivery_id < $3 and ${isOfHome('f.subscription_id')} as is_due
        from webhook_failed_delivery f
        where (subscription_id, delivery_id) > ($1::bigint, $2::bigint)
        order by subscription_id, delivery_id
        limit $4
      ),
      locked as (
        select f.ctid
        from scanned s
        join webhook_failed_delivery f on f.ctid = s.ctid
        where s.is_due
        for update of f skip locked
      ),
      deleted as (
        delete from webhook_failed_delivery f
        using locked
        where f.ctid = locked.ctid
        returning f.delivery_id
      )
      select count(*)::int as scanned,
        (count(*) filter (where is_due))::int as due,
        (select count(*) from deleted)::int as changed,
        (select jsonb_build_object('subscriptionId', subscription_id::text, 'deliveryId', delivery_id::text)
         from scanned order by subscription_id desc, delivery_id desc limit 1) as last
      from scanned`;
  const values = [after?.subscriptionId ?? 0, after?.deliveryId ?? 0, deliveriesBefore, batchRows];
  return toBatch(onlyRow(await database.query<BatchRow<PendingKey>>(statement, values)));
}

/**
 * Deletes replays that have ended before `replaysEndedBefore`, and retries that have ended and whose id is smaller than
 * `retriesBefore`. Reads one batch of the table in the order of its primary key.
 */
export async function deleteOldReplays(
  database: Database,
  bounds: { replaysEndedBefore: Date; retriesBefore: ReplayId },
  after: ReplayId | null,
): Promise<Batch<ReplayId>> {
  // Index: the primary key of webhook_replay.
  const statement = sql('delete-old-replays')`
      with scanned as materialized (
        select id, coalesce(
            case when delivery_id is null then coalesce(cancelled_at, ended_at) < $5
              else id < $3 and (ended_at is not null or cancelled_at is not null) end,
            false
          ) and ${isHome('r.account_id')} as is_due
        from webhook_replay r
        where id > $1::bigint and id < greatest($2::bigint, $3::bigint)
        order by id
        limit $4
      ),
      deleted as (
        delete from webhook_replay r
        using scanned s
        where r.id = s.id and s.is_due
        returning r.id
      )
      select count(*)::int as scanned,
        (count(*) filter (where is_due))::int as due,
        (select count(*) from deleted)::int as changed,
        max(id)::text as last
      from scanned`;
  const { replaysEndedBefore, retriesBefore } = bounds;
  // Those that began later have not ended before.
  const replaysBefore = nearestIdAt<'WebhookReplay'>(replaysEndedBefore);
  const values = [after ?? 0, replaysBefore, retriesBefore, batchRows, replaysEndedBefore];
  return toBatch(onlyRow(await database.query<BatchRow<ReplayId>>(statement, values)));
}

/** Deletes up to `batchRows` counts of hours before `hoursBefore`, and returns their number. Served by webhook_hour_statistics_by_hour. */
export async function deleteOldStatistics(database: Database, hoursBefore: Date): Promise<number> {
  const statement = sql('delete-old-statistics', 'in-index-order')`
      with old as materialized (
        select ctid
        from webhook_hour_statistics old
        where hour < $1 and ${isOfHome('old.subscription_id')}
        order by hour
        limit $2
      ), deleted as (
        delete from webhook_hour_statistics s
        using old
        where s.ctid = old.ctid
        returning 1
      )
      select count(*)::int as count from deleted`;
  return onlyRow(await database.query<{ count: number }>(statement, [hoursBefore, batchRows])).count;
}
