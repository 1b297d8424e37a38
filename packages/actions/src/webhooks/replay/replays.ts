import { type AccountId, type InterfaceName, nearestIdAt } from '@deedwire/core';
import {
  type Database,
  firstRow,
  onlyRow,
  pageConditions,
  type PageQuery,
  type Transaction,
  sql,
} from '@deedwire/store';
import { idsPerDay, type ReplayId, type SubscriptionId, type DeliveryId } from '@deedwire/webhooks/tables';
import { displacements, narrowToSequences } from './sequence-ids.ts';

export type ReplayStatus = 'RUNNING' | 'COMPLETED' | 'CANCELLED' | 'SUBSCRIPTION_DELETED';

export interface ReplayRow {
  id: ReplayId;
  subscriptionId: SubscriptionId;
  status: ReplayStatus;
  createdAt: Date;
  /** Null while it runs. */
  endedAt: Date | null;
  queued: number;
  skipped: number;
  /** Of these, the ones that were pending. Null if the replay was created before this was counted. */
  skippedPending: number | null;
  /** The share of the range that is done, from 0 to 1. */
  position: number;
  /** Why it queues nothing at the moment. Null if nothing is known that stops it, and after its end. */
  waitsFor: 'PAUSED' | 'BREAKER_OPEN' | 'RETRY_AFTER' | 'NO_WORKER' | 'LIVE_TRAFFIC' | null;
}

// A delivery that has been due for a second waits for others, or for its receiver.
const replayColumns = `
  r.id, r.subscription_id as "subscriptionId", r.created_at as "createdAt", r.queued, r.skipped,
  r.skipped_pending as "skippedPending", state.status,
  case when state.status <> 'RUNNING' then coalesce(r.cancelled_at, r.ended_at, s.deleted_at) end as "endedAt",
  case
    when state.status = 'COMPLETED' then 1
    else least(1, greatest(0, (r.last_id - r.from_id + 1)::float8 / greatest(1, r.until_id - r.from_id)))
  end as position,
  case
    when state.status <> 'RUNNING' then null
    when s.paused_reason is not null then 'PAUSED'
    when receiver.breaker_open_until is not null then 'BREAKER_OPEN'
    when receiver.hold_until > now() then 'RETRY_AFTER'
    when not webhook_has_worker(s.account_id) then 'NO_WORKER'
    when exists (
      select from webhook_pending_delivery where subscription_id = s.id and due_at < now() - interval '1 second'
    ) then 'LIVE_TRAFFIC'
  end as "waitsFor"`;

// webhook_subscription and webhook_receiver_state by primary key, webhook_pending_delivery_due.
const replayTables = `
  webhook_replay r
  cross join lateral (select * from webhook_subscription where id = r.subscription_id limit 1) s
  cross join lateral (
    select case
      when r.cancelled_at is not null then 'CANCELLED'
      when s.deleted_at is not null and coalesce(r.ended_at, s.deleted_at) >= s.deleted_at then 'SUBSCRIPTION_DELETED'
      when r.ended_at is not null then 'COMPLETED'
      else 'RUNNING'
    end as status
  ) state
  left join lateral (
    select * from webhook_receiver_state where subscription_id = s.id and url_number = s.url_number limit 1
  ) receiver on true`;

/**
 * Returns null if the account has no such replay. Served by webhook_replay_pkey.
 *
 * @param accountId null for any account
 */
export async function selectReplay(
  database: Database,
  accountId: AccountId | null,
  id: ReplayId,
): Promise<ReplayRow | null> {
  const statement = sql('select-replay')`
      select ${replayColumns}
      from ${replayTables}
      where r.id = $2 and ($1::bigint is null or r.account_id = $1) and r.delivery_id is null`;
  return firstRow(await database.query<ReplayRow & Record<string, unknown>>(statement, [accountId, id]));
}

/** Newest first. Served by webhook_replay_by_account. */
export async function selectReplays(
  database: Database,
  accountId: AccountId,
  page: PageQuery<'WebhookReplay'>,
): Promise<ReplayRow[]> {
  const { conditions, values } = pageConditions(['r.account_id', accountId], 'r.id', page);
  const statement = sql('select-replays')`
      select ${replayColumns}
      from ${replayTables}
      where r.delivery_id is null and ${conditions}
      limit $2`;
  return database.query<ReplayRow & Record<string, unknown>>(statement, values);
}

/** The replay of a subscription that has not ended. Served by webhook_replay_of_subscription. */
export async function selectRunningReplay(
  database: Database,
  subscriptionId: SubscriptionId,
): Promise<ReplayId | null> {
  const statement = sql('select-running-replay')`
      select id from webhook_replay
      where subscription_id = $1 and delivery_id is null and ended_at is null and cancelled_at is null`;
  return firstRow(await database.query<{ id: ReplayId }>(statement, [subscriptionId]))?.id ?? null;
}

/** No index has the subscription, so a page reads at most as many replays of the account. */
const searchedReplaysMax = 1_000;

/**
 * The replays of a subscription, newest first. Served by webhook_replay_by_account and webhook_replay_pkey.
 *
 * @returns `readTo`: the last replay that was read, if the page is not full although the account has more
 */
export async function selectReplaysOfSubscription(
  database: Database,
  accountId: AccountId,
  subscriptionId: SubscriptionId,
  page: PageQuery<'WebhookReplay'>,
): Promise<{ rows: ReplayRow[]; readTo: ReplayId | null }> {
  const searched = { afterId: page.afterId, limit: searchedReplaysMax };
  const { conditions, values } = pageConditions(['account_id', accountId], 'id', searched);
  const search = sql('search-replays-of-subscription')`
      select count(*)::int as count, min(id)::text as "readTo",
        coalesce(array_agg(id::text order by id desc) filter (where subscription_id = $4), '{}') as ids
      from (
        select id, subscription_id
        from webhook_replay r
        where delivery_id is null and ${conditions}
        limit $2
      ) searched`;
  const { count, readTo, ids } = onlyRow(
    await database.query<{ count: number; readTo: ReplayId | null; ids: ReplayId[] }>(search, [
      ...values,
      subscriptionId,
    ]),
  );
  const statement = sql(
    'select-replays-by-id',
  )`select ${replayColumns} from ${replayTables} where r.id = any ($1::bigint[]) order by r.id desc`;
  const wanted = ids.slice(0, page.limit);
  const rows =
    wanted.length === 0 ? [] : await database.query<ReplayRow & Record<string, unknown>>(statement, [wanted]);
  const isShort = count === searchedReplaysMax && ids.length < page.limit;
  return { rows, readTo: isShort ? readTo : null };
}

/** Which deliveries of a subscription a replay matches. Null does not restrict them. */
export interface ReplayRange {
  onlyFailed: boolean;
  eventTypes: readonly string[] | null;
  since: Date | null;
  /** Exclusive, as is `untilSequence`. */
  until: Date | null;
  fromSequence: number | null;
  untilSequence: number | null;
}

/** The ids of a range: `fromId` inclusive, `untilId` exclusive. */
export interface ReplayIds {
  fromId: string;
  untilId: string;
}

/**
 * The part of a range that is kept and was created before now. Empty if `fromId` is not smaller than `untilId`. With sequences, it
 * has other deliveries at both ends.
 *
 * @param isEstimate whether to leave out those that the range only needs after the clock of the database was set back
 */
export async function selectReplayIds(
  database: Database,
  subscriptionId: SubscriptionId,
  { since, until, fromSequence, untilSequence }: ReplayRange,
  isEstimate: boolean,
): Promise<ReplayIds> {
  const statement = sql('select-replay-ids')`
      select greatest($2::bigint, expired_before, $1::bigint - $4::bigint)::text as "fromId",
        least($3::bigint, new_record_id())::text as "untilId"
      from webhook_retention`;
  const from = since === null ? '0' : nearestIdAt(since);
  const values = [subscriptionId, from, until === null ? null : nearestIdAt(until), String(idsPerDay)];
  const row = firstRow(await database.query<ReplayIds & Record<string, unknown>>(statement, values));
  if (row === null) throw new Error('webhook_retention is empty.');
  const sequences = { from: fromSequence, until: untilSequence };
  const ids = { min: BigInt(row.fromId), before: BigInt(row.untilId) };
  const displacement = isEstimate ? displacements.usual : displacements.largest;
  const { min, before } = await narrowToSequences(database, subscriptionId, sequences, ids, displacement);
  return { fromId: String(min), untilId: String(before) };
}

/**
 * Asks the owner of the shard to replay a range. Returns null if another replay of the subscription is in progress. Call
 * `appendSubscriptionChange` in the same transaction.
 */
export async function insertReplay(
  transaction: Transaction,
  replay: {
    accountId: AccountId;
    interfaceName: InterfaceName;
    subscriptionId: SubscriptionId;
    range: ReplayRange;
    ids: ReplayIds;
    perSecond: number;
  },
): Promise<ReplayId | null> {
  const statement = sql('insert-replay')`
      insert into webhook_replay (account_id, interface, subscription_id, event_types, only_failed, per_second, from_id, until_id,
        from_sequence, until_sequence, last_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $7::bigint - 1)
      on conflict (subscription_id) where delivery_id is null and ended_at is null and cancelled_at is null do nothing
      returning id`;
  const { accountId, interfaceName, subscriptionId, range, ids, perSecond } = replay;
  const rows = await transaction.query<{ id: ReplayId }>(statement, [
    accountId,
    interfaceName,
    subscriptionId,
    range.eventTypes,
    range.onlyFailed,
    perSecond,
    ids.fromId,
    ids.untilId,
    range.fromSequence,
    range.untilSequence,
  ]);
  return firstRow(rows)?.id ?? null;
}

/** Stops a replay that runs, of a subscription that is not deleted. Returns false if there is none. Served by webhook_replay_pkey. */
export async function cancelReplay(transaction: Transaction, accountId: AccountId, id: ReplayId): Promise<boolean> {
  const statement = sql('cancel-replay')`
      update webhook_replay
      set cancelled_at = now()
      where id = $2 and account_id = $1 and delivery_id is null and ended_at is null and cancelled_at is null
        and exists (select from webhook_subscription where id = webhook_replay.subscription_id and deleted_at is null)
      returning id`;
  return (await transaction.query(statement, [accountId, id])).length === 1;
}

export interface ReplayCount {
  type: string;
  count: number;
}

export interface CountedDeliveries {
  /** The most frequent type first. */
  counts: ReplayCount[];
  /** How many deliveries were read. No index has their types or sequences, so more may be read than counted. */
  searched: number;
}

/**
 * Counts the deliveries of a range by type. Reads at most `limit` of them, including of other types and sequences.
 *
 * Served by webhook_failed_delivery_pkey and webhook_delivery_pkey, or by webhook_delivery_by_subscription. The bounds of the ids
 * select the partitions.
 */
export async function countReplayed(
  database: Database,
  subscriptionId: SubscriptionId,
  { onlyFailed, eventTypes, fromSequence, untilSequence }: ReplayRange,
  { fromId, untilId }: ReplayIds,
  limit: number,
): Promise<CountedDeliveries> {
  // The inner limit keeps this a lookup per failure.
  const failures = `
        from webhook_failed_delivery f
        cross join lateral (
          select * from webhook_delivery where id = f.delivery_id and id >= $2::bigint and id < $3::bigint limit 1
        ) d
        where f.subscription_id = $1 and f.delivery_id >= $2 and f.delivery_id < $3`;
  const deliveries = `
        from webhook_delivery d
        where d.subscription_id = $1 and d.id >= $2::bigint and d.id < $3::bigint`;
  const statement = sql(`count-replayed-${onlyFailed ? 'failures' : 'deliveries'}`, 'for-values')`
      select event_type as type, count(*) filter (where matches)::int as count, count(*)::int as searched
      from (
        select d.event_type, ($4::text[] is null or d.event_type = any ($4))
          and ($5::bigint is null or d.sequence >= $5) and ($6::bigint is null or d.sequence < $6) as matches
        ${onlyFailed ? failures : deliveries}
        limit $7::bigint
      ) searched
      group by event_type
      order by count desc, event_type`;
  const values = [subscriptionId, fromId, untilId, eventTypes, fromSequence, untilSequence, limit];
  const rows = await database.query<ReplayCount & { searched: number }>(statement, values);
  return {
    counts: rows.filter(({ count }) => count > 0).map(({ type, count }) => ({ type, count })),
    searched: rows.reduce((sum, row) => sum + row.searched, 0),
  };
}

/**
 * Counts the retries of an account within the last minute, up to `limit`. Until the transaction ends, no other one counts, so that
 * their limit holds. Uses an advisory lock, because an API may not lock rows of accounts. Served by webhook_retry_by_account.
 */
export async function countRecentRetries(
  transaction: Transaction,
  accountId: AccountId,
  limit: number,
): Promise<number> {
  const lock = sql(
    'lock-retries-of-account',
  )`select pg_advisory_xact_lock(hashtextextended('webhook-retries:' || $1::text, 0))`;
  await transaction.query(lock, [accountId]);
  const statement = sql('count-recent-retries')`
      select count(*) filter (where created_at > now() - interval '1 minute')::int as count
      from (
        select created_at
        from webhook_replay
        where account_id = $1 and delivery_id is not null
        order by id desc
        limit $2
      ) latest`;
  return onlyRow(await transaction.query<{ count: number }>(statement, [accountId, limit])).count;
}

/**
 * Asks the owner of the shard to send a delivery again. Returns false if it was asked before and has not done so yet. Call
 * `appendSubscriptionChange` in the same transaction.
 */
export async function insertRetry(
  transaction: Transaction,
  retry: {
    accountId: AccountId;
    interfaceName: InterfaceName;
    subscriptionId: SubscriptionId;
    deliveryId: DeliveryId;
  },
): Promise<boolean> {
  const statement = sql('insert-retry')`
      insert into webhook_replay (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id,
        last_id)
      values ($1, $2, $3, $4, false, 1, $4, $4::bigint + 1, $4::bigint - 1)
      on conflict (delivery_id) where delivery_id is not null and ended_at is null and cancelled_at is null do nothing
      returning id`;
  const { accountId, interfaceName, subscriptionId, deliveryId } = retry;
  const rows = await transaction.query<{ id: ReplayId }>(statement, [
    accountId,
    interfaceName,
    subscriptionId,
    deliveryId,
  ]);
  return firstRow(rows) !== null;
}

/** Deliveries with a smaller id have expired. */
export async function selectExpiredBefore(database: Database): Promise<DeliveryId> {
  const statement = sql('select-expired-before')`select expired_before as id from webhook_retention`;
  return onlyRow(await database.query<{ id: DeliveryId }>(statement, [])).id;
}
