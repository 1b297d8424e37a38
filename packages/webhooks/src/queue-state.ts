import { onlyRow, type Store, sql } from '@deedwire/store';
import { firstDueOfEach, isHome, isReceiverWell } from './kernel/sql.ts';
import { historyTables } from './retention/partitions.ts';
import { readDaysAhead } from './retention/sql/partitions.ts';

/** What is left to do in the whole database. */
export interface QueueState {
  /** Events and changes of subscriptions that fan-out has not finished, of accounts at home, without blocked ones. At most 1,000,000 are counted. */
  readonly eventsQueued: number;
  /** Deliveries that are neither delivered nor failed, including those of paused subscriptions. At most 1,000,000 are counted. */
  readonly deliveriesPending: number;
  /**
   * For how long the delivery that has been due longest has waited, in seconds. 0 if none is due. Without subscriptions that are
   * paused or not at home, and receivers that have failed or asked to wait. Of at most 100,000 subscriptions.
   */
  readonly oldestDueSeconds: number;
  /** For how long the account has been frozen that has been for longest, in seconds. 0 if none is frozen. */
  readonly frozenSeconds: number;
  /** Subscriptions by the reason why they are paused. */
  readonly paused: Readonly<Record<string, number>>;
  /**
   * Subscriptions that are not paused by the state of their episode: `DISRUPTED`, `RECOVERING`. Without those that have not failed for an
   * hour: nothing is sent to them, and only a success ends their episode.
   */
  readonly disrupted: Readonly<Record<string, number>>;
  /** For how many days after today the history has partitions. -1 if one is missing today. */
  readonly daysAhead: number;
}

const countMax = 1_000_000;
const subscriptionsMax = 100_000;

/**
 * Served by webhook_event_queue_ready, webhook_pending_delivery_pkey, webhook_pending_delivery_due,
 * webhook_subscription_by_shard, webhook_subscription_episode_open and account_home_frozen.
 */
export async function readQueueState(store: Store): Promise<QueueState> {
  const statement = sql('queue-state')`
      with recursive ${firstDueOfEach}
      select
        (
          -- Not by isHome(): a lookup for each of a million entries takes 5 s.
          select count(*)::int from (
            select from webhook_event_queue q
            where blocked_on is null and not exists (select from account_away a where a.account_id = q.account_id) limit $1
          ) entry
        ) as "eventsQueued",
        (select count(*)::int from (select from webhook_pending_delivery limit $1) delivery) as "deliveriesPending",
        (
          select coalesce(extract(epoch from greatest(interval '0', clock_timestamp() - min(due_at)))::float8, 0)
          from (select * from waiting limit $2) oldest
          join webhook_subscription subscription on subscription.id = oldest.subscription_id
          left join webhook_receiver_state receiver
            on receiver.subscription_id = subscription.id and receiver.url_number = subscription.url_number
          where subscription.deleted_at is null and subscription.paused_reason is null
            and ${isHome('subscription.account_id')}
            and ${isReceiverWell}
        ) as "oldestDueSeconds",
        (
          select coalesce(extract(epoch from greatest(interval '0', clock_timestamp() - min(frozen_at)))::float8, 0)
          from account_home
          where frozen_at is not null
        ) as "frozenSeconds",
        (
          select coalesce(json_object_agg(reason, subscriptions), '{}')
          from (
            select paused_reason as reason, count(*)::int as subscriptions
            from webhook_subscription
            where deleted_at is null and paused_reason is not null
            group by 1
          ) paused
        ) as paused,
        (
          select coalesce(json_object_agg(state, subscriptions), '{}')
          from (
            select e.state, count(*)::int as subscriptions
            from webhook_subscription_episode e
            join webhook_subscription s on s.id = e.subscription_id
            left join webhook_receiver_state r on r.subscription_id = s.id and r.url_number = s.url_number
            where e.state in ('DISRUPTED', 'RECOVERING') and s.deleted_at is null and s.paused_reason is null
              and (e.state = 'RECOVERING' or r.last_failure_at > now() - interval '1 hour')
            group by 1
          ) disrupted
        ) as disrupted`;
  const values = [countMax, subscriptionsMax];
  const state = onlyRow(await store.query<Omit<QueueState, 'daysAhead'> & Record<string, unknown>>(statement, values));
  return { ...state, daysAhead: await readDaysAhead(store, historyTables) };
}
