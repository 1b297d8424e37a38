import { type Database, onlyRow, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../fence/fence.ts';
import type { SubscriptionId, Shard } from '../kernel/ids.ts';
import { pgArray } from '../kernel/sql.ts';

/** A position in the deleted subscriptions of a shard. */
export interface DeletedPosition {
  readonly deletedAt: string;
  readonly id: SubscriptionId;
}

// Deliveries are dropped 7 days after they have expired, by whole days. The milliseconds of an id count from 2026.
// webhook_subscription_deleted, and webhook_deleted_backlog by primary key.
const selectStatement = sql('select-forgettable-subscriptions', 'in-index-order')`
    select coalesce(json_agg(json_build_object('deletedAt', deleted_at::text, 'id', id::text)), '[]') as positions
    from (
      select s.deleted_at, s.id
      from webhook_subscription s
      where s.shard = $1 and s.deleted_at is not null and (s.deleted_at, s.id) > ($2::timestamptz, $3::bigint)
        and s.deleted_at < (
          select timestamptz '2026-01-01Z' + (expired_before >> 22) * interval '1 millisecond' - interval '8 days'
          from webhook_retention
        )
        and not exists (select from webhook_deleted_backlog b where b.shard = $1 and b.subscription_id = s.id)
      order by s.deleted_at, s.id
      limit $4
    ) page`;

/**
 * Reads the next subscriptions of a shard that were deleted so long ago that their deliveries have been dropped, in the order of
 * their deletion.
 *
 * @param after null reads from the start
 */
export async function selectForgettable(
  database: Database,
  shard: Shard,
  after: DeletedPosition | null,
  limit: number,
): Promise<DeletedPosition[]> {
  const values = [shard, after?.deletedAt ?? '-infinity', after?.id ?? '0', limit];
  return onlyRow(await database.query<{ positions: DeletedPosition[] }>(selectStatement, values)).positions;
}

const forgetStatement = sql('forget-subscriptions')`
    with ${liveWorker}
    select exists (select from worker) as "isAlive", (select webhook_forget_subscriptions($2::bigint[], $3) from worker)`;

/**
 * Deletes the rows of deleted subscriptions. Leaves those that have a replay and, unless `withDeliveries`, those that had a delivery.
 *
 * @param ids at most 1,000
 */
export async function forgetSubscriptions(
  database: Database,
  workerId: WorkerId,
  ids: readonly SubscriptionId[],
  { withDeliveries }: { withDeliveries: boolean },
): Promise<void> {
  const values = [workerId, pgArray(ids), withDeliveries];
  rowOfLiveWorker(await database.query<{ isAlive: boolean }>(forgetStatement, values), workerId);
}
