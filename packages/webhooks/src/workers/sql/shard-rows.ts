import { type Database, type Transaction, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import type { DeliveryId, SubscriptionId, Shard } from '../../kernel/ids.ts';
import { pendingRow, pgArray } from '../../kernel/sql.ts';

export interface AcquiredShard {
  readonly shard: Shard;
  /**
   * The last owner died, and recovery is unfinished: claims are counted before entries are rendered and deliveries are
   * sent.
   */
  readonly isRecovering: boolean;
}

/**
 * Acquires free shards. Skips a shard that another worker is acquiring.
 *
 * @throws {FencedOutError}
 */
export async function acquireShards(database: Database, workerId: WorkerId, limit: number): Promise<AcquiredShard[]> {
  // Index: the primary key of webhook_worker. webhook_shard has 64 rows.
  const statement = sql('acquire-shards')`
      with ${liveWorker},
      free as (
        select s.shard, s.recovering
        from worker, webhook_shard s
        where s.worker_id is null
        order by s.shard
        limit $2
        for update of s skip locked
      ),
      acquired as (
        update webhook_shard s set worker_id = worker.id, recovering = false
        from worker, free
        where s.shard = free.shard
        returning s.shard, free.recovering
      )
      select
        exists (select from worker) as "isAlive",
        coalesce(
          (select json_agg(json_build_object('shard', shard, 'isRecovering', recovering) order by shard) from acquired),
          '[]'
        ) as shards`;
  const rows = await database.query<{ isAlive: boolean; shards: AcquiredShard[] }>(statement, [workerId, limit]);
  return rowOfLiveWorker(rows, workerId).shards;
}

export interface InFlightDelivery {
  readonly subscriptionId: SubscriptionId;
  readonly deliveryId: DeliveryId;
  /** The longest that its request takes. */
  readonly timeoutMs: number;
}

/** Within this time after a request has ended, its result is recorded, unless the database is unavailable. */
const recordedWithinMs = 2_000;

/**
 * Releases shards. Postpones deliveries in flight, so that the old owner can record their results before the next owner
 * sends them.
 *
 * @param recovering the shards whose next owner must continue the recovery
 * @param inFlight deliveries of these shards whose results are not recorded
 * @param skipsLocked whether to skip deliveries that another transaction has locked, instead of waiting for it. The next owner
 *   may then send them while their results are being recorded.
 * @throws {FencedOutError}
 */
export async function releaseShards(
  transaction: Transaction,
  workerId: WorkerId,
  shards: readonly Shard[],
  recovering: readonly Shard[],
  inFlight: readonly InFlightDelivery[],
  skipsLocked = false,
): Promise<void> {
  const statement = {
    name: skipsLocked ? 'release-shards-unlocked' : 'release-shards',
    // Indexes: the primary keys of webhook_worker and webhook_pending_delivery. webhook_shard has 64 rows.
    // A row that is locked is being settled at this moment. Until that is committed, the next owner would find the delivery due.
    // Locking in the order of the primary key, as a settling statement does, avoids deadlocks.
    // No mark of its subscription, including none that is set meanwhile, makes due what is in flight.
    // A first attempt that is in flight was due: a later time was written before the clock was set back.
    text: `
      with ${liveWorker},
      in_flight as (
        select p.ctid, r.timeout_ms
        from worker, unnest($4::bigint[], $5::bigint[], $7::int[]) r (subscription_id, delivery_id, timeout_ms)
        join webhook_pending_delivery p on p.ctid = ${pendingRow}
        order by r.subscription_id, r.delivery_id
        for update of p ${skipsLocked ? 'skip locked' : ''}
      ),
      postponed as (
        update webhook_pending_delivery p
        set due_at = case when p.attempts = p.prior_attempts then handed_over.at else greatest(p.due_at, handed_over.at) end,
          last_attempt_at = greatest(p.last_attempt_at, handed_over.at)
        from worker, in_flight f
        cross join lateral (select clock_timestamp() + (f.timeout_ms + $3) * interval '1 millisecond' as at) handed_over
        where p.ctid = f.ctid
      ),
      released as (
        update webhook_shard s set worker_id = null, recovering = s.shard = any ($6::smallint[])
        from worker
        where s.worker_id = worker.id and s.shard = any ($2::smallint[])
      )
      select exists (select from worker) as "isAlive"`,
  };
  const values = [
    workerId,
    pgArray(shards),
    recordedWithinMs,
    pgArray(inFlight.map(({ subscriptionId }) => subscriptionId)),
    pgArray(inFlight.map(({ deliveryId }) => deliveryId)),
    pgArray(recovering),
    pgArray(inFlight.map(({ timeoutMs }) => timeoutMs)),
  ];
  rowOfLiveWorker(await transaction.query<{ isAlive: boolean }>(statement, values), workerId);
  transaction.notifyAfterCommit(workersChanged);
}

/**
 * Frees the shards of dead workers. Locks the row of each worker, and so waits for its last statements, which locked the
 * row while the worker was alive. So a worker that reads a free shard sees everything that the old owner wrote.
 */
export async function freeShardsOfDead(transaction: Transaction): Promise<Shard[]> {
  // Index: the primary key of webhook_worker. webhook_shard has 64 rows.
  const statement = sql('free-shards-of-dead')`
      with dead as (
        select id from webhook_worker
        where not alive and id in (select worker_id from webhook_shard)
        order by id
        for update
      )
      update webhook_shard s set worker_id = null, recovering = true
      from dead
      where s.worker_id = dead.id
      returning s.shard`;
  const rows = await transaction.query<{ shard: Shard }>(statement, []);
  if (rows.length > 0) transaction.notifyAfterCommit(workersChanged);
  return rows.map(({ shard }) => shard);
}

/**
 * The payload of the notification that a worker joined or left, or that shards became free. The engine then calls
 * `Workers.wake()`. All other payloads are numbers of shards; APIs of earlier releases send others, too.
 */
export const workersChanged = 'workers';
