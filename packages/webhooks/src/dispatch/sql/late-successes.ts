import { type Database, type Store, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import type { DeliveryId } from '../../kernel/ids.ts';
import { idRange, pgArray } from '../../kernel/sql.ts';
import type { AttemptRecord, DeliveryKey } from '../storage.ts';
import { lockPendingDeliveries } from './pending-deliveries.ts';

/**
 * Records late successes: another worker has already recorded another result for these deliveries. Idempotent. Skips a
 * delivery whose partition was dropped.
 *
 * Each statement sees what was committed before it started, so the locks come first. A result that another worker is
 * recording at this moment is then either visible to the last statement, or writes nothing.
 *
 * @param successes in the order of subscription and delivery
 * @returns the deliveries whose attempt was not recorded before
 */
export async function recordLateSuccesses(
  store: Store,
  workerId: WorkerId,
  successes: readonly LateSuccess[],
): Promise<DeliveryId[]> {
  return store.transaction(async (transaction) => {
    const existing = await lockLateDeliveries(
      transaction,
      workerId,
      successes.map(({ deliveryId }) => deliveryId),
    );
    const late = successes.filter(({ deliveryId }) => existing.has(deliveryId));
    if (late.length === 0) return [];
    await lockPendingDeliveries(transaction, late);
    return insertLateSuccesses(transaction, workerId, late);
  });
}

// webhook_delivery by primary key, in the partitions between the first and the last id.
const lockLateDeliveriesStatement = sql('lock-late-deliveries')`
    with ${liveWorker}, locked as (
      select d.id
      from worker, webhook_delivery d
      where d.id = any($2::bigint[]) and d.id between $3 and $4
      order by d.id
      for no key update of d
    )
    select exists (select from worker) as "isAlive", coalesce(array_agg(id::text), '{}') as ids from locked`;

/**
 * Locks deliveries until the end of the transaction, so that concurrent late successes of one delivery are recorded one
 * after the other.
 *
 * @returns the deliveries that exist
 */
export async function lockLateDeliveries(
  database: Database,
  workerId: WorkerId,
  deliveries: readonly DeliveryId[],
): Promise<ReadonlySet<DeliveryId>> {
  const values = [workerId, pgArray(deliveries), ...idRange(deliveries)];
  const rows = await database.query<{ isAlive: boolean; ids: DeliveryId[] }>(lockLateDeliveriesStatement, values);
  return new Set(rowOfLiveWorker(rows, workerId).ids);
}

// The attempt keeps its number unless another worker has recorded one with that number. An attempt that is already recorded
// changes nothing: its delivery may be pending again after a replay.
// webhook_attempt, webhook_delivery, webhook_pending_delivery and webhook_failed_delivery by primary key.
const insertLateSuccessesStatement = sql('insert-late-successes')`
    with ${liveWorker}, late as (
      select d.subscription_id, d.id, d.interface, r.started_at, r.duration_ms, r.status,
        greatest(r.number, recorded.last_number + 1) as number
      from worker
      cross join unnest($2::bigint[], $3::int[], $4::timestamptz[], $5::int[], $6::int[])
        as r (delivery_id, number, started_at, duration_ms, status)
      -- The limit keeps this a lookup per delivery. A hash join would read all deliveries between the first and the last id.
      cross join lateral (
        select id, subscription_id, interface from webhook_delivery where id = r.delivery_id and id between $7 and $8 limit 1
      ) d
      cross join lateral (
        select coalesce(max(a.number), 0) as last_number,
          coalesce(bool_or(a.started_at = r.started_at and a.error is null and a.response_status = r.status), false) as is_same
        from webhook_attempt a
        where a.delivery_id = r.delivery_id and a.delivery_id between $7 and $8
      ) recorded
      where not recorded.is_same
      order by d.subscription_id, d.id
    ), no_longer_pending as (
      delete from webhook_pending_delivery p using late where p.subscription_id = late.subscription_id and p.delivery_id = late.id
    ), no_longer_failed as (
      delete from webhook_failed_delivery f using late where f.subscription_id = late.subscription_id and f.delivery_id = late.id
    )
    insert into webhook_attempt (
      delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status
    )
    select id, number, subscription_id, interface, started_at, duration_ms, status
    from late
    returning delivery_id`;

export interface LateSuccess extends DeliveryKey {
  readonly attempt: AttemptRecord;
}

/**
 * Records late successes. The deliveries then count as delivered, whatever another worker has recorded for them.
 *
 * @returns the deliveries whose attempt was not recorded before
 */
export async function insertLateSuccesses(
  database: Database,
  workerId: WorkerId,
  successes: readonly LateSuccess[],
): Promise<DeliveryId[]> {
  const ids = successes.map(({ deliveryId }) => deliveryId);
  const rows = await database.query<{ delivery_id: DeliveryId }>(insertLateSuccessesStatement, [
    workerId,
    pgArray(ids),
    pgArray(successes.map(({ attempt }) => attempt.number)),
    pgArray(successes.map(({ attempt }) => attempt.startedAt)),
    pgArray(successes.map(({ attempt }) => Math.round(attempt.durationMs))),
    pgArray(successes.map(({ attempt }) => attempt.responseStatus)),
    ...idRange(ids),
  ]);
  return rows.map((row) => row.delivery_id);
}
