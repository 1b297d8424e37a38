import { type Database, onlyRow, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../fence/fence.ts';
import type { AccountId, DeliveryId, SubscriptionId, LaneId, Shard } from '../kernel/ids.ts';
import { isHome, pgArray } from '../kernel/sql.ts';

// webhook_worker by primary key.
const insertStatement = sql('insert-deleted-backlog')`
    with ${liveWorker}, noted as (
      insert into webhook_deleted_backlog (account_id, subscription_id)
      select $3, $2 from worker where ${isHome('$3::bigint')}
      on conflict do nothing
    )
    select exists (select from worker) as "isAlive"`;

/**
 * Notes that the worker of the shard must delete what is pending for a deleted subscription, and what it remembers about
 * the receiver. Idempotent.
 */
export async function insertDeletedBacklog(
  database: Database,
  workerId: WorkerId,
  { subscriptionId, accountId }: LaneId,
): Promise<void> {
  const values = [workerId, subscriptionId, accountId];
  rowOfLiveWorker(await database.query<{ isAlive: boolean }>(insertStatement, values), workerId);
}

// webhook_deleted_backlog by primary key.
const selectStatement = sql('select-deleted-backlogs')`
    select coalesce(json_agg(json_build_array(subscription_id::text, account_id::text)), '[]') as backlogs
    from webhook_deleted_backlog
    where shard = $1`;

/** Reads the deleted subscriptions of a shard whose deliveries must still be deleted. There are few. */
export async function selectDeletedBacklogs(database: Database, shard: Shard): Promise<LaneId[]> {
  const { backlogs } = onlyRow(
    await database.query<{ backlogs: [SubscriptionId, AccountId][] }>(selectStatement, [shard]),
  );
  return backlogs.map(([subscriptionId, accountId]) => ({ subscriptionId, accountId }));
}

// webhook_pending_delivery by primary key.
const selectPendingStatement = sql('select-pending-of-deleted', 'in-index-order')`
    select coalesce(json_agg(delivery_id::text), '[]') as deliveries
    from (
      select delivery_id
      from webhook_pending_delivery
      where subscription_id = $1 and delivery_id > $2
      order by delivery_id
      limit $3
    ) page`;

/**
 * Reads the ids of the next pending deliveries of a subscription, in their order. Continuing after the last one matters:
 * while an old snapshot exists, a read from the start visits the index entries of everything that was deleted.
 *
 * @param after null reads from the start
 */
export async function selectPendingOfDeleted(
  database: Database,
  subscriptionId: SubscriptionId,
  after: DeliveryId | null,
  limit: number,
): Promise<DeliveryId[]> {
  const values = [subscriptionId, after ?? '0', limit];
  return onlyRow(await database.query<{ deliveries: DeliveryId[] }>(selectPendingStatement, values)).deliveries;
}

// The rows are looked up as in dispatch/sql/results.ts. A row that another transaction is recording or has just rescheduled is
// skipped: waiting for it could deadlock, and this statement would not see the row that replaces it.
// webhook_pending_delivery by primary key, webhook_subscription by primary key.
const deletePendingStatement = sql('delete-pending-of-deleted')`
    with ${liveWorker}, found as (
      select p.delivery_id, p.ctid, s.account_id
      from webhook_subscription s
      cross join unnest($3::bigint[]) listed (delivery_id)
      cross join lateral (
        select delivery_id, ctid
        from webhook_pending_delivery
        where subscription_id = s.id and delivery_id between listed.delivery_id and listed.delivery_id
        order by delivery_id
        limit 1
      ) p
      where s.id = $2 and s.deleted_at is not null
    ), unlocked as (
      select p.ctid
      from worker
      cross join found
      join webhook_pending_delivery p on p.ctid = found.ctid and p.delivery_id = found.delivery_id
        and ${isHome('found.account_id')}
      for update of p skip locked
    ), deleted as (
      delete from webhook_pending_delivery p
      using unlocked
      where p.ctid = unlocked.ctid
      returning p.delivery_id
    )
    select exists (select from worker) as "isAlive",
      coalesce(json_agg(delivery_id::text) filter (where delivery_id not in (select delivery_id from deleted)), '[]') as skipped
    from found`;

/**
 * Deletes pending deliveries of a deleted subscription. Does nothing if the subscription was not deleted.
 *
 * @returns the deliveries that another transaction holds or has replaced, or whose account is not at home. Delete them later.
 */
export async function deletePendingOfDeleted(
  database: Database,
  workerId: WorkerId,
  subscriptionId: SubscriptionId,
  deliveries: readonly DeliveryId[],
): Promise<DeliveryId[]> {
  const values = [workerId, subscriptionId, pgArray(deliveries)];
  const rows = await database.query<{ isAlive: boolean; skipped: DeliveryId[] }>(deletePendingStatement, values);
  return rowOfLiveWorker(rows, workerId).skipped;
}

// webhook_receiver_state, webhook_subscription and webhook_deleted_backlog by primary key.
const deleteStatement = sql('delete-deleted-backlog')`
    with ${liveWorker}, receiver as (
      delete from webhook_receiver_state r
      using worker, webhook_subscription s
      where s.id = $2 and s.deleted_at is not null and r.subscription_id = $2 and ${isHome('s.account_id')}
    ), backlog as (
      delete from webhook_deleted_backlog b
      using worker
      where b.shard = ($3::bigint & 63)::smallint and b.subscription_id = $2 and ${isHome('b.account_id')}
    )
    select exists (select from worker) as "isAlive"`;

/**
 * Deletes the receiver state of a deleted subscription, and the note about its backlog. Call it once no delivery is pending,
 * because only the result of a pending delivery writes the state.
 */
export async function deleteDeletedBacklog(
  database: Database,
  workerId: WorkerId,
  { subscriptionId, accountId }: LaneId,
): Promise<void> {
  const values = [workerId, subscriptionId, accountId];
  rowOfLiveWorker(await database.query<{ isAlive: boolean }>(deleteStatement, values), workerId);
}
