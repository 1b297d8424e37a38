import type { AccountId, InterfaceName } from '@deedwire/core';
import { type Database, sql } from '@deedwire/store';
import {
  type DeliveryId,
  type EventId,
  firstDueOfEach,
  isHome,
  isReceiverWell,
  type SubscriptionId,
} from '@deedwire/webhooks/tables';

interface OfAccount {
  accountId: AccountId;
  interfaceName: InterfaceName;
  /** The account is frozen, or at home in another cell. */
  isAway: boolean;
}

export interface LateSubscriptionRow extends OfAccount {
  subscriptionId: SubscriptionId;
  /** That is due first. */
  deliveryId: DeliveryId;
  dueAt: Date;
  /** `deedwire_webhook_oldest_due_seconds` counts it: neither a pause nor its receiver explains the delay. */
  isUnexplained: boolean;
  /** Of the last failed attempt if the receiver fails, otherwise of the last success. Null if there is none. */
  lastAttemptedId: DeliveryId | null;
}

const subscriptionsMax = 100_000;
/** The worker sends what is due within moments. */
const lateAfter = `interval '10 seconds'`;

/**
 * The subscriptions of all accounts with a delivery that is due and not sent: first those whose delay is unexplained, each by how long it
 * is due. Of the first 100,000 that have something pending. Served by webhook_pending_delivery_due, webhook_attempt_successful and the
 * primary keys of the other tables.
 */
export async function selectLateSubscriptions(database: Database, limit: number): Promise<LateSubscriptionRow[]> {
  const statement = sql('select-late-subscriptions', 'in-index-order')`
      with recursive ${firstDueOfEach}, late as (
        select subscription.id, subscription.account_id, subscription.interface, oldest.delivery_id, oldest.due_at,
          not (${isHome('subscription.account_id')}) as is_away,
          subscription.paused_reason is null and ${isHome('subscription.account_id')}
            and ${isReceiverWell} as is_unexplained,
          case when receiver.consecutive_failures > 0 then receiver.last_failed_delivery_id end as last_failed_delivery_id
        from (select * from waiting limit ${subscriptionsMax}) oldest
        cross join lateral (
          select * from webhook_subscription where id = oldest.subscription_id and deleted_at is null limit 1
        ) subscription
        left join lateral (
          select * from webhook_receiver_state
          where subscription_id = subscription.id and url_number = subscription.url_number
          limit 1
        ) receiver on true
        where oldest.due_at < clock_timestamp() - ${lateAfter}
        order by is_unexplained desc, oldest.due_at, subscription.id
        limit $1
      )
      select id as "subscriptionId", account_id as "accountId", interface as "interfaceName", is_away as "isAway",
        delivery_id as "deliveryId", due_at as "dueAt", is_unexplained as "isUnexplained",
        coalesce(last_failed_delivery_id, (
          select a.delivery_id
          from webhook_attempt a
          where a.subscription_id = late.id and a.error is null and a.response_status between 200 and 299
          order by a.delivery_id desc
          limit 1
        )) as "lastAttemptedId"
      from late
      order by is_unexplained desc, due_at, id`;
  return database.query<LateSubscriptionRow & Record<string, unknown>>(statement, [limit]);
}

export interface UnfannedEventRow extends OfAccount {
  eventId: EventId;
  /** As in the alert `DeedwireEventsBlocked`. Null: the event is not blocked. */
  blockedOn: string | null;
  hasWorker: boolean;
}

/** Of the shard `number`. */
const oldest = (condition: string, order: string): string => `(
          select account_id, interface, event_id, blocked_on
          from webhook_event_queue
          where shard = number and ${condition} and event_id is not null
          order by ${order}
          limit 1
        )`;

/**
 * The oldest event of each shard that waits for its fan-out, and the oldest one that is blocked. Served by webhook_event_queue_ready and
 * webhook_event_queue_blocked.
 */
export async function selectUnfannedEvents(database: Database): Promise<UnfannedEventRow[]> {
  const statement = {
    name: 'select-unfanned-events',
    text: `
      select e.account_id as "accountId", e.interface as "interfaceName", e.event_id as "eventId", e.blocked_on as "blockedOn",
        webhook_has_worker(e.account_id) as "hasWorker", not (${isHome('e.account_id')}) as "isAway"
      from generate_series(0, 63) as number
      cross join lateral (
        ${oldest('blocked_on is null', 'position')}
        union all
        ${oldest('blocked_on is not null', `account_id, blocked_on, coalesce(subscription_id, 0), position`)}
      ) e
      order by e.event_id`,
  };
  return database.query<UnfannedEventRow & Record<string, unknown>>(statement, []);
}
