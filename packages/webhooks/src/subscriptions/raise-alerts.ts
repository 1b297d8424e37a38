import { LockTimeoutError, onlyRow, type Statement, type Store, StoreUnavailableError } from '@deedwire/store';
import { FencedOutError, rowOfLiveWorker, type WorkerId } from '../fence/fence.ts';
import type { Shard, SubscriptionId } from '../kernel/ids.ts';
import { pgArray } from '../kernel/sql.ts';

/** Of one transaction, which locks the subscription's row of webhook_subscription_episode. */
const batchMax = 100;

// Those for which webhook_raise_alerts() has something to do: it decides, by the same conditions. Of listeners and deleted
// subscriptions, it forgets the failures.
// webhook_receiver_state_failing, webhook_subscription_paused_by_others, webhook_failed_delivery_to_report,
// webhook_subscription_episode_open, webhook_hour_statistics_delivered, and the primary keys of all tables.
const selectStatement: Statement = {
  name: 'select-subscriptions-to-alert-about',
  text: `
    with changed (id) as (
      select s.id
      from webhook_receiver_state r
      join webhook_subscription s on s.id = r.subscription_id and s.url_number = r.url_number
      left join webhook_subscription_episode e on e.subscription_id = s.id
      where r.failing_since <= now() - interval '5 minutes' and r.consecutive_failures > 0
        and s.deleted_at is null and s.kind = 'PUSH' and s.paused_reason is null
        and coalesce(e.state, 'HEALTHY') = 'HEALTHY' and (e.episode is null or e.episode <= now() - interval '1 hour')
      union
      select s.id
      from webhook_subscription_episode e
      join webhook_subscription s on s.id = e.subscription_id
      left join webhook_receiver_state r on r.subscription_id = s.id
      cross join lateral (
        -- Null: its state is that of an earlier URL.
        select case when r.url_number = s.url_number then r.consecutive_failures > 0 end as is_failing
      ) receiver
      where e.state <> 'HEALTHY' and s.deleted_at is null and s.kind = 'PUSH'
        and (e.state = 'RECOVERING' or (
          s.paused_reason is null and receiver.is_failing is not true
          and (not receiver.is_failing or exists (
            select
            from webhook_hour_statistics h
            where h.subscription_id = s.id and h.has_delivered and h.hour >= date_trunc('hour', e.since, 'UTC')
              and h.last_delivered_at >= date_trunc('minute', greatest(e.since, r.last_failure_at))
          ))
        ))
      union
      select s.id
      from webhook_subscription s
      left join webhook_subscription_episode e on e.subscription_id = s.id
      where s.shard = any ($1::smallint[]) and s.deleted_at is null and s.kind = 'PUSH' and s.paused_reason <> 'OWNER'
        and (s.paused_reason, s.paused_at) is distinct from (e.paused_reason, e.paused_at)
      union
      select subscription_id
      from webhook_failed_delivery
      where failed_at <= now() - interval '5 minutes'
    )
    select coalesce(json_agg(s.id::text order by s.id), '[]') as ids
    from changed
    join webhook_subscription s using (id)
    where s.shard = any ($1::smallint[])`,
};

// A subscription that another transaction has locked, which can last, has its turn later.
const raiseStatement: Statement = {
  name: 'raise-alerts',
  text: `
    with worker as (
      select id from webhook_worker where id = $1 and alive for key share
    ), unlocked as (
      select s.id, s.shard
      from worker
      cross join webhook_subscription s
      where s.id = any ($2::bigint[])
      order by s.id
      for key share of s skip locked
    ), raised as (
      select shard, webhook_raise_alerts(id, $3) as alerts
      from unlocked
    )
    select exists (select from worker) as "isAlive",
      (select coalesce(json_agg(distinct shard), '[]') from raised where alerts > 0) as shards`,
};

export interface RaiseAlertsOptions {
  readonly workerId: WorkerId;
  readonly shards: ReadonlySet<Shard>;
  readonly gidNamespace: string;
  /** Ends the sweep after the current transaction. */
  readonly signal: AbortSignal;
}

/**
 * Appends the alerts that are due about the subscriptions of these shards. What an alert says and that it was said are stored in one
 * transaction, so that it is appended once, whatever ends the worker and whoever owns the shard next.
 *
 * @throws {FencedOutError} if the worker was declared dead
 * @throws {StoreUnavailableError} if the database cannot be reached
 * @throws {AggregateError} if no alert could be appended about some subscriptions, after the others
 */
export async function raiseAlerts(store: Store, options: RaiseAlertsOptions): Promise<void> {
  const { shards, signal } = options;
  const { ids } = onlyRow(await store.query<{ ids: SubscriptionId[] }>(selectStatement, [pgArray([...shards])]));
  const failures: Error[] = [];
  for (let start = 0; start < ids.length && !signal.aborted; start += batchMax)
    failures.push(...(await raiseAbout(store, options, ids.slice(start, start + batchMax))));
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `No alert could be appended about ${failures.length} of ${ids.length} subscriptions.`,
    );
}

/** Of a page that fails, each subscription has a transaction of its own, so that one does not end the alerts about others. */
async function raiseAbout(store: Store, options: RaiseAlertsOptions, ids: readonly SubscriptionId[]): Promise<Error[]> {
  const { workerId, gidNamespace, signal } = options;
  try {
    await store.transaction(async (transaction) => {
      const values = [workerId, pgArray(ids), gidNamespace];
      const rows = await transaction.query<{ isAlive: boolean; shards: Shard[] }>(raiseStatement, values);
      for (const shard of rowOfLiveWorker(rows, workerId).shards) transaction.notifyAfterCommit(String(shard));
    });
    return [];
  } catch (error) {
    if (error instanceof FencedOutError) throw error;
    if (error instanceof StoreUnavailableError && !(error instanceof LockTimeoutError)) throw error;
    if (ids.length === 1) return [new Error(`subscription ${ids[0]}`, { cause: error })];
    const failures: Error[] = [];
    for (const id of ids) if (!signal.aborted) failures.push(...(await raiseAbout(store, options, [id])));
    return failures;
  }
}
