import { type Database, onlyRow, type Transaction, sql } from '@deedwire/store';
import type { WorkerId } from '../../fence/fence.ts';
import type { Shard } from '../../kernel/ids.ts';
import { workersChanged } from './shard-rows.ts';

/**
 * Registers a worker. Its lease starts now, by the database clock. Interfaces let owners set a request header only while each worker has
 * `sends_request_headers`, and confirm a contact address only while one has `sends_mail`.
 */
export async function insertWorker(
  transaction: Transaction,
  { name, leaseMs, sendsMail }: { name: string; leaseMs: number; sendsMail: boolean },
): Promise<WorkerId> {
  const statement = sql('insert-worker')`
      insert into webhook_worker (name, leased_until, lease_ms, sends_request_headers, sends_mail)
      values ($1, clock_timestamp() + $2 * interval '1 ms', $2, true, $3)
      returning id`;
  const { id } = onlyRow(await transaction.query<{ id: WorkerId }>(statement, [name, leaseMs, sendsMail]));
  transaction.notifyAfterCommit(workersChanged);
  return id;
}

export interface WorkerLease {
  readonly id: WorkerId;
  readonly isLeaving: boolean;
  /** Negative once the lease has expired. */
  readonly expiresInMs: number;
  /** The lease ends later than a renewal now would make it end: the clock of the database was set back. */
  readonly isAhead: boolean;
}

export interface Membership {
  /** Workers that were not declared dead. */
  readonly workers: readonly WorkerLease[];
  /** All shards. `owner` is null while a shard is free. It may be a worker that was declared dead. */
  readonly shards: readonly { readonly shard: Shard; readonly owner: WorkerId | null }[];
}

/** Reads both tables completely: one row for each process, and 64 shards. */
export async function selectMembership(database: Database): Promise<Membership> {
  const statement = sql('select-membership')`
      select
        coalesce((
          select json_agg(json_build_object(
            'id', id::text,
            'isLeaving', leaving,
            'expiresInMs', ceil(date_part('epoch', leased_until - clock_timestamp()) * 1000),
            'isAhead', coalesce(leased_until > clock_timestamp() + lease_ms * interval '1 ms' + interval '1 second', false)
          ))
          from webhook_worker
          where alive
        ), '[]') as workers,
        (select json_agg(json_build_object('shard', shard, 'owner', worker_id::text) order by shard) from webhook_shard) as shards`;
  return onlyRow(await database.query<Membership & { [column: string]: unknown }>(statement, []));
}

/**
 * Renews a lease. Writes no key column, so that it does not wait for statements that hold the fence (`for key share`).
 *
 * @returns false if the worker was declared dead
 */
export async function renewLease(database: Database, workerId: WorkerId, leaseMs: number): Promise<boolean> {
  // Index: the primary key.
  const statement = sql('renew-lease')`
      update webhook_worker set leased_until = clock_timestamp() + $2 * interval '1 ms'
      where id = $1 and alive
      returning id`;
  return (await database.query(statement, [workerId, leaseMs])).length > 0;
}

/**
 * Ends leases that are ahead of the clock of the database one lease from now. A worker that is alive renews its lease before.
 * A worker of an earlier release has stored no length of its lease, and keeps it.
 */
export async function shortenLeases(database: Database, workerIds: readonly WorkerId[]): Promise<void> {
  // Index: the primary key.
  const statement = sql('shorten-leases')`
      update webhook_worker
      set leased_until = least(leased_until, clock_timestamp() + lease_ms * interval '1 ms')
      where id = any ($1::bigint[]) and alive`;
  await database.query(statement, [workerIds]);
}

/** Excludes the worker from the next shares. */
export async function markLeaving(transaction: Transaction, workerId: WorkerId): Promise<void> {
  // Index: the primary key.
  const statement = sql('mark-leaving')`update webhook_worker set leaving = true where id = $1 and alive`;
  await transaction.query(statement, [workerId]);
  transaction.notifyAfterCommit(workersChanged);
}

/**
 * Declares workers dead whose leases have expired. Once this is committed, their fenced statements write nothing.
 *
 * It needs its own transaction. A lock `for update` in the same transaction could wait forever: until the commit, further
 * statements of the worker find it alive and join the holders of the shared lock.
 *
 * @returns the workers that this call declared dead
 */
export async function declareDead(database: Database, workerIds: readonly WorkerId[]): Promise<WorkerId[]> {
  // Index: the primary key.
  const statement = sql('declare-dead')`
      update webhook_worker set alive = false, leased_until = clock_timestamp()
      where id = any ($1::bigint[]) and alive and leased_until < clock_timestamp()
      returning id`;
  const rows = await database.query<{ id: WorkerId }>(statement, [workerIds]);
  return rows.map(({ id }) => id);
}

/** Removes the rows of workers that died a day ago. Operators can see them until then. */
export async function deleteDeadWorkers(database: Database): Promise<void> {
  // webhook_worker has one row for each process, webhook_shard 64.
  const statement = sql('delete-dead-workers')`
      delete from webhook_worker w
      where not alive and leased_until < clock_timestamp() - interval '1 day'
        and not exists (select from webhook_shard s where s.worker_id = w.id)`;
  await database.query(statement, []);
}

/** Removes the row of a worker that has shut down. Does nothing while it owns shards. */
export async function deleteWorker(database: Database, workerId: WorkerId): Promise<void> {
  // Index: the primary key. webhook_shard has 64 rows.
  const statement = sql('delete-worker')`
      delete from webhook_worker
      where id = $1 and not exists (select from webhook_shard where worker_id = $1)`;
  await database.query(statement, [workerId]);
}
