import { type Database, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import type { AccountId, SubscriptionId, Shard } from '../../kernel/ids.ts';
import { isHome, pgArray, pgTextArray } from '../../kernel/sql.ts';
import type { QueuePosition } from '../queued-account.ts';
import { rowOfEntry } from './queue.ts';

/** `webhook_event_queue.blocked_on` of an entry that the database refused, or of a change that could not be applied. */
export const blockedOnRefusal = 'REFUSED';

/** Entries of an account that are blocked for the same reason. */
export interface BlockedGroup {
  readonly accountId: AccountId;
  /** The event type, or `blockedOnRefusal`. */
  readonly blockedOn: string;
  /** The subscription that the entries are for. Null if they are for all of them. */
  readonly subscriptionId: SubscriptionId | null;
}

/**
 * Counts the blocked entries of each shard, up to `max`. The result does not contain shards without any.
 *
 * Served by webhook_event_queue_blocked.
 */
export async function countBlocked(
  database: Database,
  shards: readonly Shard[],
  max: number,
): Promise<ReadonlyMap<Shard, number>> {
  const statement = sql('fan-out-count-blocked')`
      select owned.shard, blocked.count
      from unnest($1::smallint[]) as owned (shard)
      cross join lateral (
        select count(*)::int as count
        from (select from webhook_event_queue where shard = owned.shard and blocked_on is not null limit $2) entry
      ) blocked
      where blocked.count > 0`;
  const rows = await database.query<{ shard: Shard; count: number }>(statement, [pgArray(shards), max]);
  return new Map(rows.map(({ shard, count }) => [shard, count]));
}

/**
 * Reads `limit` groups of a shard after a group, or of one account if `accountId` is not null. Jumps from group to group, so
 * that the number of entries in a group does not matter.
 *
 * Served by webhook_event_queue_blocked.
 */
export async function selectBlockedGroups(
  database: Database,
  shard: Shard,
  accountId: AccountId | null,
  after: BlockedGroup | null,
  limit: number,
): Promise<BlockedGroup[]> {
  const statement = sql('fan-out-select-blocked-groups', 'in-index-order')`
      with recursive blocked as (
        select $2::bigint as account_id, $3::text as blocked_on, $4::bigint as subscription_id
        union all
        select next.account_id, next.blocked_on, next.subscription_id
        from blocked
        cross join lateral (
          select account_id, blocked_on, coalesce(subscription_id, 0) as subscription_id from webhook_event_queue
          where shard = $1 and blocked_on is not null and account_id <= $5
            and (account_id, blocked_on, coalesce(subscription_id, 0))
              > (blocked.account_id, blocked.blocked_on, blocked.subscription_id)
          order by account_id, blocked_on, coalesce(subscription_id, 0)
          limit 1
        ) next
      )
      select account_id as "accountId", blocked_on as "blockedOn", nullif(subscription_id, 0) as "subscriptionId"
      from blocked
      offset 1
      limit $6`;
  return database.query<BlockedGroup>(statement, [
    shard,
    after?.accountId ?? accountId ?? '0',
    after?.blockedOn ?? '',
    after?.subscriptionId ?? '0',
    accountId ?? String(2n ** 63n - 1n),
    limit,
  ]);
}

/**
 * Reads the positions of the first `limit` entries of some groups of an account after a position, in order.
 *
 * Served by webhook_event_queue_blocked. The rows are compared and ordered by all of its columns, because with statistics of
 * an empty queue PostgreSQL would read all entries of the shard from another index.
 */
export async function selectBlocked(
  database: Database,
  shard: Shard,
  accountId: AccountId,
  groups: readonly BlockedGroup[],
  after: QueuePosition,
  limit: number,
): Promise<QueuePosition[]> {
  const statement = sql('fan-out-select-blocked', 'in-index-order')`
      select entry.position::float8 as position
      from unnest($3::text[], $4::bigint[]) as blocked (on_type, subscription_id)
      cross join lateral (
        select position
        from webhook_event_queue
        where shard = $1 and blocked_on is not null
          and (account_id, blocked_on, coalesce(subscription_id, 0), position)
            > ($2::bigint, blocked.on_type, blocked.subscription_id, $5::bigint)
          and (account_id, blocked_on, coalesce(subscription_id, 0))
            <= ($2::bigint, blocked.on_type, blocked.subscription_id)
        order by account_id, blocked_on, coalesce(subscription_id, 0), position
        limit $6
      ) entry
      order by entry.position
      limit $6`;
  const rows = await database.query<{ position: QueuePosition }>(statement, [
    shard,
    accountId,
    pgTextArray(groups.map(({ blockedOn }) => blockedOn)),
    pgArray(groups.map(({ subscriptionId }) => subscriptionId ?? '0')),
    after,
    limit,
  ]);
  return rows.map(({ position }) => position);
}

/**
 * Unblocks entries, and returns how many. They are looked up one by one, as in writeRound.
 *
 * Served by webhook_event_queue_identity or _pkey.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function unblockEntries(
  database: Database,
  workerId: WorkerId,
  accountId: AccountId,
  positions: readonly QueuePosition[],
): Promise<number> {
  const statement = sql('fan-out-unblock')`
      with ${liveWorker},
      unblocked as (
        update webhook_event_queue q set blocked_on = null
        from worker, (select $2::bigint as account_id, unnest($3::bigint[]) as position) entry
        where q.ctid = ${rowOfEntry('entry')} and ${isHome('q.account_id')}
        returning q.position
      )
      select exists (select from worker) as "isAlive", (select count(*)::int from unblocked) as count`;
  const values = [workerId, accountId, pgArray(positions)];
  const rows = await database.query<{ isAlive: boolean; count: number }>(statement, values);
  return rowOfLiveWorker(rows, workerId).count;
}
