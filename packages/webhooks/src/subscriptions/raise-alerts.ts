import {
  LockTimeoutError,
  onlyRow,
  StatementTimeoutError,
  type Store,
  StoreUnavailableError,
  sql,
} from '@deedwire/store';
import { FencedOutError, liveWorker, rowOfLiveWorker, type WorkerId } from '../fence/fence.ts';
import type { Shard, SubscriptionId } from '../kernel/ids.ts';
import { isHome, pgArray } from '../kernel/sql.ts';

/** Of one transaction, which locks them and reports up to 10,000 failed deliveries of each. */
const batchMax = 20;
/** Subscriptions about which no alert can be appended. They end a sweep, whose next one has another order. */
const failuresMax = 10;

// Those for which webhook_raise_alerts() has something to do: it decides, by the same conditions. Of deleted subscriptions, it
// forgets the failures.
// webhook_receiver_state_failing, webhook_subscription_episode_open, and the primary keys of all tables.
const selectStatement = sql('select-subscriptions-to-alert-about')`
    with changed (id) as (
      select s.id
      from webhook_receiver_state r
      join webhook_subscription s on s.id = r.subscription_id and s.url_number = r.url_number
      left join webhook_subscription_episode e on e.subscription_id = s.id
      where r.failing_since <= now() - interval '5 minutes' and r.consecutive_failures > 0
        and r.last_failure_at > now() - interval '1 hour'
        and s.deleted_at is null and s.kind = 'PUSH' and s.paused_reason is null
        and coalesce(e.state, 'HEALTHY') = 'HEALTHY' and (e.episode is null or e.episode <= now() - interval '1 hour')
      union
      select s.id
      from webhook_subscription_episode e
      join webhook_subscription s on s.id = e.subscription_id
      left join webhook_receiver_state r on r.subscription_id = s.id and r.url_number = s.url_number
      where (e.state in ('DISRUPTED', 'RECOVERING') or e.paused_reason is not null) and s.deleted_at is null
        and (e.paused_reason is not null or s.paused_reason is not null or case
          when r.consecutive_failures > 0 then e.state = 'RECOVERING'
          else e.state = 'DISRUPTED' or e.since <= now() - interval '5 minutes'
        end)
      union
      select subscription_id
      from webhook_failure_to_report
      where failed_at <= now() - interval '5 minutes'
    )
    select coalesce(json_agg(s.id::text order by random()), '[]') as ids
    from changed
    join webhook_subscription s using (id)
    where s.shard = any ($1::smallint[]) and ${isHome('s.account_id')}`;

// A subscription that another transaction changes, which can last, has its turn later. A change waits for this transaction.
const raiseStatement = sql('raise-alerts')`
    with ${liveWorker}, unlocked as (
      select s.id, s.shard
      from worker
      cross join webhook_subscription s
      where s.id = any ($2::bigint[])
      order by s.id
      for share of s skip locked
    ), raised as (
      select shard, webhook_raise_alerts(id, $3) as alerts
      from unlocked
    )
    select exists (select from worker) as "isAlive",
      (select coalesce(json_agg(distinct shard), '[]') from raised where alerts > 0) as shards`;

export interface RaiseAlertsOptions {
  readonly workerId: WorkerId;
  readonly shards: ReadonlySet<Shard>;
  readonly gidNamespace: string;
  /** Ends the sweep after the current transaction. */
  readonly signal: AbortSignal;
}

/**
 * Appends the alerts that are due about the subscriptions of these shards. An alert and the state that it reports are stored in one
 * transaction, so each alert is appended once, even if the worker is killed or the shard has another owner. If a page fails, its
 * subscriptions are tried one by one, so a subscription that fails does not prevent the alerts about others.
 *
 * @throws {FencedOutError} if the worker was declared dead
 * @throws {StoreUnavailableError} if the database cannot be reached
 * @throws {AggregateError} if no alert could be appended about some subscriptions
 */
export async function raiseAlerts(store: Store, options: RaiseAlertsOptions): Promise<void> {
  const { workerId, shards, gidNamespace, signal } = options;
  const { ids } = onlyRow(await store.query<{ ids: SubscriptionId[] }>(selectStatement, [pgArray([...shards])]));
  const pages: SubscriptionId[][] = [];
  for (let start = 0; start < ids.length; start += batchMax) pages.push(ids.slice(start, start + batchMax));
  const failures: Error[] = [];
  for (let page; failures.length < failuresMax && !signal.aborted && (page = pages.shift()) !== undefined;) {
    try {
      const values = [workerId, pgArray(page), gidNamespace];
      await store.transaction(async (transaction) => {
        const rows = await transaction.query<{ isAlive: boolean; shards: Shard[] }>(raiseStatement, values);
        for (const shard of rowOfLiveWorker(rows, workerId).shards) transaction.notifyAfterCommit(String(shard));
      });
    } catch (error) {
      if (!canConcernOne(error)) throw error;
      if (page.length > 1) pages.unshift(...page.map((id) => [id]));
      else failures.push(new Error(`subscription ${page[0]}`, { cause: error }));
    }
  }
  if (failures.length === 0) return;
  const left = pages.flat().length;
  throw new AggregateError(
    failures,
    `No alert could be appended about ${failures.length} of ${ids.length} subscriptions; ${left} were not tried.`,
  );
}

/** Whether alerts about other subscriptions can succeed. */
function canConcernOne(error: unknown): boolean {
  if (error instanceof LockTimeoutError || error instanceof StatementTimeoutError) return true;
  return !(error instanceof FencedOutError || error instanceof StoreUnavailableError);
}
