import { type Database, onlyRow, type Statement, type Store } from '@deedwire/store';
import { rowOfLiveWorker, type WorkerId } from '../fence/fence.ts';
import { failingAfterMs } from '../kernel/failing.ts';
import type { Shard, SubscriptionId } from '../kernel/ids.ts';
import { pgArray } from '../kernel/sql.ts';

/** Of one transaction, which locks the subscription's row of webhook_subscription_episode. */
const batchMax = 100;

// Those for which webhook_raise_alerts() may have something to do: it decides. Without those that stay disrupted.
// webhook_receiver_state_failing, webhook_subscription_paused_by_others, webhook_failed_delivery_to_report,
// webhook_subscription_episode_open, and the primary keys of all tables.
const selectStatement: Statement = {
  name: 'select-subscriptions-to-alert-about',
  text: `
    with changed (id) as (
      select r.subscription_id
      from webhook_receiver_state r
      left join webhook_subscription_episode e using (subscription_id)
      where r.failing_since <= now() - $4 * interval '1 millisecond' and e.state is distinct from 'DISRUPTED'
      union
      select e.subscription_id
      from webhook_subscription_episode e
      join webhook_subscription s on s.id = e.subscription_id
      left join webhook_receiver_state r
        on r.subscription_id = s.id and r.url_number = s.url_number and r.consecutive_failures > 0
      where e.state <> 'HEALTHY'
        and not (e.state = 'DISRUPTED' and (s.paused_reason is not null or r.subscription_id is not null))
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
    select coalesce(json_agg(id::text order by id), '[]') as ids
    from (
      select s.id
      from changed
      join webhook_subscription s using (id)
      where s.shard = any ($1::smallint[]) and s.deleted_at is null and s.kind = 'PUSH' and s.id > $2
      order by s.id
      limit $3
    ) page`,
};

async function selectChanged(
  database: Database,
  shards: ReadonlySet<Shard>,
  after: SubscriptionId | null,
): Promise<SubscriptionId[]> {
  const values = [pgArray([...shards]), after ?? '0', batchMax, failingAfterMs];
  return onlyRow(await database.query<{ ids: SubscriptionId[] }>(selectStatement, values)).ids;
}

const raiseStatement: Statement = {
  name: 'raise-alerts',
  text: `
    with worker as (
      select id from webhook_worker where id = $1 and alive for key share
    ), raised as (
      select s.shard, webhook_raise_alerts(s.id, $3 * interval '1 millisecond', $4) as alerts
      from worker
      cross join unnest($2::bigint[]) as changed (id)
      join webhook_subscription s on s.id = changed.id
    )
    select exists (select from worker) as "isAlive",
      (select coalesce(json_agg(distinct shard), '[]') from raised where alerts > 0) as shards`,
};

/**
 * Appends the alerts that are due about the subscriptions of these shards. What an alert says and that it was said are stored in one
 * transaction, so that it is appended once, whatever ends the worker and whoever owns the shard next.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function raiseAlerts(
  store: Store,
  { workerId, shards, gidNamespace }: { workerId: WorkerId; shards: ReadonlySet<Shard>; gidNamespace: string },
): Promise<void> {
  let page: SubscriptionId[] = [];
  do {
    page = await selectChanged(store, shards, page.at(-1) ?? null);
    if (page.length === 0) return;
    const ids = pgArray(page);
    await store.transaction(async (transaction) => {
      const values = [workerId, ids, failingAfterMs, gidNamespace];
      const rows = await transaction.query<{ isAlive: boolean; shards: Shard[] }>(raiseStatement, values);
      for (const shard of rowOfLiveWorker(rows, workerId).shards) transaction.notifyAfterCommit(String(shard));
    });
  } while (page.length === batchMax);
}
