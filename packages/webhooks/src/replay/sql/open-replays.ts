import { type Database, sql } from '@deedwire/store';
import { FencedOutError, liveWorker, type WorkerId } from '../../fence/fence.ts';
import type { AccountId, SubscriptionId, Shard } from '../../kernel/ids.ts';
import { isHome, pgArray } from '../../kernel/sql.ts';
import type { OpenReplay } from '../storage.ts';

/** Retries come first, because a person waits for each, then those that are open longest. The others follow once these have ended. */
const replaysMax = 1_000;

// The statement runs after each change of a subscription. So it takes one step in webhook_replay_open for each subscription, and
// does not read the retries of one that is paused, which can be many. webhook_subscription by primary key.
// It writes only what anyone may know who sees the subscription.
const selectOpenStatement = sql('select-open-replays')`
    with recursive ${liveWorker}, replayed as (
      select first.*
      from worker
      cross join unnest($2::smallint[]) own (shard)
      cross join lateral (
        select shard, subscription_id, account_id
        from webhook_replay
        where shard = own.shard and ended_at is null and cancelled_at is null
        order by subscription_id
        limit 1
      ) first
      union all
      select next.*
      from replayed
      cross join lateral (
        select shard, subscription_id, account_id
        from webhook_replay
        where shard = replayed.shard and subscription_id > replayed.subscription_id
          and ended_at is null and cancelled_at is null
        order by subscription_id
        limit 1
      ) next
    ), open as materialized (
      select r.*, s.deleted_at
      from replayed
      cross join lateral (
        select id, account_id, deleted_at
        from webhook_subscription
        where id = replayed.subscription_id and account_id = replayed.account_id
          and (paused_reason is null or deleted_at is not null) and ${isHome('replayed.account_id')}
        limit 1
      ) s
      cross join lateral (
        select *
        from webhook_replay
        where shard = replayed.shard and subscription_id = s.id and account_id = s.account_id
          and ended_at is null and cancelled_at is null
        limit $3
      ) r
      order by r.delivery_id is null, r.id
      limit $3
    ), ended as (
      update webhook_replay r set ended_at = open.deleted_at from open where r.id = open.id and open.deleted_at is not null
    )
    select live."isAlive", open.id, open.account_id as "accountId", open.subscription_id as "subscriptionId",
      open.delivery_id as "deliveryId", open.event_types as "eventTypes", open.only_failed as "onlyFailed",
      open.per_second as "perSecond", open.until_id as "untilId", open.from_sequence as "fromSequence",
      open.until_sequence as "untilSequence", open.last_id as "lastId"
    from (select exists (select from worker) as "isAlive") live
    left join open on open.deleted_at is null`;

interface OpenRow extends Omit<OpenReplay, 'lane'> {
  isAlive: true;
  accountId: AccountId;
  subscriptionId: SubscriptionId;
}

/**
 * Reads the retries and replays that are in progress in these shards, without those of paused subscriptions and of accounts that are not at
 * home. Ends those of
 * deleted ones.
 */
export async function selectOpenReplays(
  database: Database,
  workerId: WorkerId,
  shards: readonly Shard[],
): Promise<OpenReplay[]> {
  // Without a replay, one row says whether the worker is alive.
  const rows = await database.query<OpenRow | { isAlive: boolean; id: null }>(selectOpenStatement, [
    workerId,
    pgArray(shards),
    replaysMax,
  ]);
  if (rows[0]?.isAlive !== true) throw new FencedOutError(workerId);
  const open: OpenReplay[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    const { isAlive: _, accountId, subscriptionId, ...replay } = row;
    open.push({ ...replay, lane: { accountId, subscriptionId } });
  }
  return open;
}
