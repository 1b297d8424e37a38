import { onlyRow, type Database, sql } from '@deedwire/store';
import type { DeliveryId, EventId, SubscriptionId, IdRange } from '@deedwire/webhooks/tables';
import {
  type DeliveriesOwner,
  type DeliveryStatus,
  type DeliveryIdRow,
  groupIds,
  type ListBounds,
  type ListPosition,
} from './pages.ts';

export interface ListedSubscriptions extends ListBounds {
  /** Subscriptions that are not deleted and have had deliveries, without listeners. */
  subscriptionIds: SubscriptionId[];
}

/**
 * Returns the subscriptions of an owner, and the bounds of their deliveries, or those of all subscriptions of the account.
 *
 * Served by webhook_subscription_by_account or webhook_subscription_pkey, and by webhook_subscription_sequence_pkey.
 */
export async function selectListedSubscriptions(
  database: Database,
  { accountId, subscriptionId }: DeliveriesOwner,
): Promise<ListedSubscriptions> {
  const [name, column, value] =
    accountId === null ? ['subscription', 's.id', subscriptionId] : ['account', 's.account_id', accountId];
  const statement = sql(`select-listed-subscriptions-of-${name}`)`
      select r.expired_before as "expiredBefore", clock_timestamp() as now,
        listed.ids as "subscriptionIds", listed.oldest as "oldestSubscriptionId"
      from webhook_retention r
      cross join (
        select coalesce(array_agg(s.id::text), '{}') as ids, min(s.id) as oldest
        from webhook_subscription s
        join webhook_subscription_sequence q on q.subscription_id = s.id and q.last_sequence > 0
        where ${column} = $1 and s.kind = 'PUSH' and s.deleted_at is null
      ) listed`;
  const listed = onlyRow(await database.query<ListedSubscriptions>(statement, [value]));
  const subscriptionIds = listed.subscriptionIds.filter((id) => subscriptionId === null || id === subscriptionId);
  return { ...listed, subscriptionIds };
}

/** Served by webhook_subscription_pkey. */
export async function selectBoundsOfAllAccounts(database: Database): Promise<ListBounds> {
  const statement = sql('select-bounds-of-all-accounts')`
      select expired_before as "expiredBefore", clock_timestamp() as now,
        (select id from webhook_subscription order by id limit 1) as "oldestSubscriptionId"
      from webhook_retention`;
  return onlyRow(await database.query<ListBounds>(statement, []));
}

/** The tables that list deliveries by subscription and id. */
export type DeliveryIndex = 'every' | 'successful' | 'pending' | 'failed' | 'expired';

/** @param status null for any status */
export function indexOf(status: DeliveryStatus | null): DeliveryIndex {
  const indexes = { PENDING: 'pending', DELIVERED: 'successful', FAILED: 'failed', EXPIRED: 'expired' } as const;
  return status === null ? 'every' : indexes[status];
}

interface DeliverySource {
  table: string;
  id: string;
  condition: string;
  /** Whether the table has the event. */
  hasEvent: boolean;
}

const sources: Record<DeliveryIndex, DeliverySource> = {
  // webhook_delivery_by_subscription
  every: { table: 'webhook_delivery', id: 'id', condition: '', hasEvent: true },
  // webhook_attempt_successful
  successful: {
    table: 'webhook_attempt',
    id: 'delivery_id',
    condition: 'and d.error is null and d.response_status between 200 and 299',
    hasEvent: false,
  },
  // webhook_pending_delivery_pkey
  pending: { table: 'webhook_pending_delivery', id: 'delivery_id', condition: '', hasEvent: true },
  // webhook_failed_delivery_pkey
  failed: { table: 'webhook_failed_delivery', id: 'delivery_id', condition: '', hasEvent: false },
  // webhook_failed_delivery_erased and webhook_failed_delivery_pkey, merged.
  expired: {
    table: `(
          select subscription_id, delivery_id from webhook_failed_delivery where is_erased
          union all
          select subscription_id, delivery_id from webhook_failed_delivery
          where not is_erased and delivery_id < (select expired_before from webhook_retention)
        )`,
    id: 'delivery_id',
    condition: '',
    hasEvent: false,
  },
};

/** The event of a delivery. Null if it was not asked for, or if the table that was read does not have it. */
export interface EventOfDelivery {
  eventType: string | null;
  eventId: EventId | null;
}

export type EventIdRow = DeliveryIdRow & EventOfDelivery;

/**
 * Returns the newest ids of each subscription. A delivery with two successful attempts appears twice.
 *
 * `= any (array[…])` and the order by both columns force the index of the subscription: only this index gives the order.
 * Otherwise PostgreSQL may scan the ids of all subscriptions in order and filter them.
 *
 * @param range limits the partitions that are read
 * @param limit for each subscription
 * @param withEvents as far as they need no other table. Reads the rows, not only the index.
 */
export async function selectDeliveryIds(
  database: Database,
  index: DeliveryIndex,
  positions: readonly ListPosition[],
  range: IdRange,
  limit: number,
  withEvents = false,
): Promise<EventIdRow[]> {
  const { table, id, condition, hasEvent } = sources[index];
  const [eventType, eventId] = withEvents && hasEvent ? ['event_type', 'event_id'] : ['null', 'null'];
  const statement = sql(`select-${withEvents ? 'event' : 'delivery'}-ids-${index}`, 'in-index-order')`
      select p.subscription_id as "subscriptionId", newest.*
      from unnest($1::bigint[], $2::bigint[]) as p (subscription_id, before)
      cross join lateral (
        select d.${id} as id, ${eventType} as "eventType", ${eventId} as "eventId"
        from ${table} d
        where d.subscription_id = any (array[p.subscription_id])
          and d.${id} < p.before
          and d.${id} >= $3::bigint and d.${id} < $4::bigint ${condition}
        order by d.subscription_id desc, d.${id} desc
        limit $5
      ) newest`;
  return database.query<EventIdRow>(statement, [
    positions.map(({ subscriptionId }) => subscriptionId),
    positions.map(({ before }) => before),
    range.min,
    range.before,
    limit,
  ]);
}

// Each delivery costs up to four buffers, and each day 4 locks.
const eventsPerStatement = 100;
const daysPerStatement = 14;

/**
 * Returns the events of deliveries. Each statement reads a bounded number of rows and partitions.
 *
 * Served by webhook_delivery_pkey. The bounds of the ids select the partitions.
 *
 * @param ids newest first
 */
export async function selectDeliveredEvents(
  database: Database,
  ids: readonly DeliveryId[],
): Promise<Map<DeliveryId, EventOfDelivery>> {
  const statement = sql('select-delivered-events', 'for-values')`
      select d.id, d.event_type as "eventType", d.event_id as "eventId"
      from unnest($1::bigint[]) as wanted (id)
      cross join lateral (
        select id, event_type, event_id
        from webhook_delivery
        where id = wanted.id and id between $2::bigint and $3::bigint
        limit 1
      ) d`;
  const events = new Map<DeliveryId, EventOfDelivery>();
  for (const group of groupIds(ids, eventsPerStatement, daysPerStatement)) {
    const values = [group, group.at(-1), group[0]];
    for (const { id, ...event } of await database.query<{ id: DeliveryId } & EventOfDelivery>(statement, values))
      events.set(id, event);
  }
  return events;
}

/** The newest deliveries of a range, of all accounts. Served by webhook_delivery_pkey. */
export async function selectIdsOfAllAccounts(database: Database, range: IdRange, limit: number): Promise<DeliveryId[]> {
  const statement = sql('select-ids-of-all-accounts', 'in-index-order')`
      select id
      from webhook_delivery
      where id >= $1::bigint and id < $2::bigint
      order by id desc
      limit $3`;
  const rows = await database.query<{ id: DeliveryId }>(statement, [range.min, range.before, limit]);
  return rows.map(({ id }) => id);
}

export interface ScannedAttempts {
  /** The deliveries with a successful attempt, newest first. */
  deliveryIds: DeliveryId[];
  /** The last delivery whose attempts were read. Null if the range contains no more. */
  lastId: DeliveryId | null;
}

/**
 * Reads the attempts of the newest deliveries of a range, of all accounts and with any result, because no index lists the
 * successful ones of all accounts. Reads the last attempt of a delivery first, so that the limit never cuts off a success.
 *
 * Served by webhook_attempt_pkey.
 *
 * @param limit the maximum number of attempts to read
 */
export async function selectLatestAttemptsOfAllAccounts(
  database: Database,
  range: IdRange,
  limit: number,
): Promise<ScannedAttempts> {
  const statement = sql('select-latest-attempts-of-all-accounts', 'in-index-order')`
      select
        coalesce(
          array_agg(distinct delivery_id order by delivery_id desc)
            filter (where error is null and response_status between 200 and 299),
          '{}'
        )::text[] as "deliveryIds",
        case when count(*) = $3 then min(delivery_id) end as "lastId"
      from (
        select delivery_id, error, response_status
        from webhook_attempt
        where delivery_id >= $1::bigint and delivery_id < $2::bigint
        order by delivery_id desc, number desc
        limit $3
      ) latest`;
  return onlyRow(await database.query<ScannedAttempts>(statement, [range.min, range.before, limit]));
}

/**
 * Returns subscriptions of any account that have pending or failed deliveries, in the order of their ids. Takes one step in
 * webhook_pending_delivery_pkey or webhook_failed_delivery_pkey for each, whatever the number of deliveries.
 *
 * @param afterId only subscriptions with a larger id
 */
export async function selectSubscriptionsWith(
  database: Database,
  deliveries: 'pending' | 'failed',
  afterId: SubscriptionId | null,
  limit: number,
): Promise<SubscriptionId[]> {
  const table = deliveries === 'pending' ? 'webhook_pending_delivery' : 'webhook_failed_delivery';
  const statement = sql(`select-subscriptions-with-${deliveries}`)`
      with recursive subscription as (
        (select subscription_id as id from ${table} where subscription_id > $1 order by subscription_id limit 1)
        union all
        select (select d.subscription_id from ${table} d where d.subscription_id > s.id order by d.subscription_id limit 1)
        from subscription s
        where s.id is not null
      )
      select id
      from subscription
      where id is not null
      limit $2`;
  const rows = await database.query<{ id: SubscriptionId }>(statement, [afterId ?? '0', limit]);
  return rows.map(({ id }) => id);
}
