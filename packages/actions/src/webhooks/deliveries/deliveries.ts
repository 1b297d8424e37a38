import type { AccountId } from '@deedwire/core';
import { firstRow, type Database, type PageQuery, sql } from '@deedwire/store';
import { type DeliveryId, type SubscriptionId, type IdRange, splitByDays } from '@deedwire/webhooks/tables';
import {
  type DeliveryIndex,
  indexOf,
  selectBoundsOfAllAccounts,
  selectDeliveryIds,
  selectIdsOfAllAccounts,
  selectLatestAttemptsOfAllAccounts,
  selectListedSubscriptions,
  selectSubscriptionsWith,
} from './delivery-ids.ts';
import {
  newestIds,
  type DeliveriesOwner,
  type DeliveryRow,
  type DeliveryStatus,
  betweenTimes,
  findIds,
  type FoundIds,
  type FoundPage,
  groupIds,
  listedRange,
  type ReadRange,
  reportFurther,
} from './pages.ts';

/**
 * Returns null if the account has no such delivery, or has deleted its subscription, or if that is a listener: its deliveries are
 * never sent, so they have no status.
 *
 * @param accountId null for any account
 */
export async function selectDelivery(
  database: Database,
  accountId: AccountId | null,
  id: DeliveryId,
): Promise<DeliveryRow | null> {
  return firstRow(await selectDeliveriesById(database, accountId, [id]));
}

export type DeliveryFilter = DeliveriesOwner & {
  status: DeliveryStatus | null;
  /** Only deliveries that were created at this time or later. */
  since?: Date | null;
  /** Only deliveries that were created before this time. */
  until?: Date | null;
};

// A step in the index of a day costs 3 buffers for each subscription. A day costs 4 locks.
const stepsPerStatement = 80;
const daysMin = 4;
export const daysMax = 14;

/** How many days a statement may read of the deliveries to this number of subscriptions. */
export function daysPerPart(subscriptions: number): number {
  return Math.min(daysMax, Math.max(daysMin, Math.floor(stepsPerStatement / subscriptions)));
}

/**
 * Returns deliveries, newest first. Each statement reads a bounded number of rows and partitions, whatever the number of
 * deliveries.
 *
 * @param onFurtherPart called for each part of the history that is read because those before it did not fill the page
 */
export async function selectDeliveries(
  database: Database,
  filter: DeliveryFilter,
  page: PageQuery<'WebhookDelivery'>,
  onFurtherPart: () => void = () => {},
): Promise<FoundPage> {
  const { index, ranges, subscriptionIds } = await openList(database, filter, page.afterId);
  const readIds: ReadRange = (part, wanted) =>
    newestIds((...query) => selectDeliveryIds(database, index, ...query), subscriptionIds, part, wanted);
  return collectPage(database, filter, page.limit, findIds(reportFurther(ranges, onFurtherPart), readIds, page.limit));
}

/**
 * Reads a page of at most `limit` deliveries. Skips those of another account, and those whose status has changed since their id was
 * read.
 */
export async function collectPage(
  database: Database,
  { accountId, status }: { accountId: AccountId | null; status: DeliveryStatus | null },
  limit: number,
  found: AsyncIterable<FoundIds>,
): Promise<FoundPage> {
  const rows: DeliveryRow[] = [];
  for await (const { ids, readTo } of found) {
    for (let start = 0; start < ids.length && rows.length < limit;) {
      // Hardly more than the page lacks, and not one by one if many are skipped.
      const group = ids.slice(start, start + Math.max(limit - rows.length, limit >> 2));
      start += group.length;
      const loaded = await selectDeliveriesById(database, accountId, group);
      rows.push(...loaded.filter((row) => status === null || row.status === status));
    }
    if (rows.length >= limit) break;
    if (readTo !== null) return { rows, readTo };
  }
  return { rows: rows.slice(0, limit), readTo: null };
}

/** Where the ids of a list are. */
export interface OpenList {
  /** The subscriptions that can have deliveries in the list. */
  subscriptionIds: SubscriptionId[];
  index: DeliveryIndex;
  /** Newest first. Each lies within the partitions of one statement. */
  ranges: Iterable<IdRange>;
}

/** @param afterId the last delivery of the previous page. Null for the first page. */
export async function openList(
  database: Database,
  { status, since = null, until = null, ...owner }: DeliveryFilter,
  afterId: DeliveryId | null,
): Promise<OpenList> {
  const listed = await selectListedSubscriptions(database, owner);
  const { subscriptionIds } = listed;
  const range = betweenTimes(listedRange(listed, status, afterId), since, until);
  const index = indexOf(status);
  const isPartitioned = index === 'every' || index === 'successful';
  if (subscriptionIds.length === 0 || range.min >= range.before) return { subscriptionIds, index, ranges: [] };
  return {
    subscriptionIds,
    index,
    ranges: isPartitioned ? splitByDays(range, daysPerPart(subscriptionIds.length)) : [range],
  };
}

const daysOfAllAccounts = 14;
const subscriptionsPerStatement = 50;
// Attempts of one delivery can lie far apart, so each costs up to one buffer.
const attemptsPerStatement = 300;

/**
 * Returns deliveries of all accounts, newest first, for operators. Each statement reads a bounded number of rows and
 * partitions. The number of statements can grow: for `PENDING`, `FAILED` and `EXPIRED` with the number of subscriptions
 * that have such deliveries, otherwise with the number of newer deliveries that are not in the list.
 */
export async function selectDeliveriesOfAllAccounts(
  database: Database,
  { status, since = null, until = null }: Pick<DeliveryFilter, 'since' | 'status' | 'until'>,
  { afterId, limit }: PageQuery<'WebhookDelivery'>,
): Promise<FoundPage> {
  const listed = listedRange(await selectBoundsOfAllAccounts(database), status, afterId);
  const range = betweenTimes(listed, since, until);
  const found =
    status === null || status === 'DELIVERED'
      ? findIds(splitByDays(range, daysOfAllAccounts), byTime(database, status), limit)
      : findIds([range], await bySubscription(database, status), limit);
  return collectPage(database, { accountId: null, status }, limit, found);
}

function byTime(database: Database, status: 'DELIVERED' | null): ReadRange {
  if (status === null) return (range, wanted) => selectIdsOfAllAccounts(database, range, wanted);
  return async ({ min, before }, wanted) => {
    const ids = new Set<DeliveryId>();
    for (let end: bigint | null = before; end !== null && ids.size < wanted;) {
      const { deliveryIds, lastId } = await selectLatestAttemptsOfAllAccounts(
        database,
        { min, before: end },
        attemptsPerStatement,
      );
      for (const id of deliveryIds) ids.add(id);
      end = lastId === null ? null : BigInt(lastId);
    }
    return [...ids].slice(0, wanted);
  };
}

async function bySubscription(database: Database, status: 'PENDING' | 'FAILED' | 'EXPIRED'): Promise<ReadRange> {
  const index = indexOf(status);
  const subscriptionIds: SubscriptionId[] = [];
  for (let found: SubscriptionId[] | null = null; found === null || found.length === subscriptionsPerStatement;) {
    const kind = status === 'PENDING' ? 'pending' : 'failed';
    found = await selectSubscriptionsWith(database, kind, subscriptionIds.at(-1) ?? null, subscriptionsPerStatement);
    subscriptionIds.push(...found);
  }
  return (range, wanted) =>
    newestIds(
      async (positions, part, limit) => {
        const rows = [];
        for (let start = 0; start < positions.length; start += subscriptionsPerStatement) {
          const group = positions.slice(start, start + subscriptionsPerStatement);
          rows.push(...(await selectDeliveryIds(database, index, group, part, limit)));
        }
        return rows;
      },
      subscriptionIds,
      range,
      wanted,
    );
}

// Each delivery costs up to 16 buffers, and each day 4 locks.
const idsPerStatement = 30;
const daysPerStatement = 10;

/**
 * Returns deliveries with their status, newest first. Skips deliveries of another account, of a deleted subscription, of a
 * listener or of a dropped partition. Each statement reads a bounded number of rows and partitions.
 *
 * @param accountId null for any account
 * @param ids newest first
 */
export async function selectDeliveriesById(
  database: Database,
  accountId: AccountId | null,
  ids: readonly DeliveryId[],
): Promise<DeliveryRow[]> {
  const rows: DeliveryRow[] = [];
  for (const group of groupIds(ids, idsPerStatement, daysPerStatement)) {
    rows.push(...(await selectGroup(database, accountId, group)));
  }
  return rows;
}

/**
 * Served by the primary keys of all tables and by webhook_replay_of_delivery. The limits keep PostgreSQL from scanning the tables for a hash join. The bounds of
 * the ids select the partitions.
 */
async function selectGroup(
  database: Database,
  accountId: AccountId | null,
  ids: readonly DeliveryId[],
): Promise<DeliveryRow[]> {
  const statement = sql('select-deliveries-by-id', 'for-values')`
      select d.id, d.subscription_id as "subscriptionId", d.sequence,
        case
          when f.delivery_id < r.expired_before then 'EXPIRED'
          when d.erased_at is not null and (f.delivery_id is not null or p.delivery_id is not null) then 'EXPIRED'
          when d.erased_at is null and retry.created_at is not null then 'PENDING'
          when f.delivery_id is not null then 'FAILED'
          when p.delivery_id is not null then 'PENDING'
          else 'DELIVERED'
        end as status,
        d.event_id as "eventId", d.event_type as "eventType", d.event_version as "eventVersion", d.is_test as "isTest",
        d.occurred_at as "occurredAt",
        case when s.paused_at is null and d.erased_at is null then coalesce(p.due_at, retry.created_at) end as "dueAt",
        case when d.erased_at is not null then 'ERASED' when d.id < r.expired_before then 'RETENTION' end as "payloadDeletion",
        case when retry.created_at is null then coalesce(f.claimed_at, p.claimed_at) end as "claimedAt"
      from webhook_delivery d
      cross join webhook_retention r
      cross join lateral (
        select paused_at
        from webhook_subscription
        where id = d.subscription_id and kind = 'PUSH' and deleted_at is null
        limit 1
      ) s
      left join lateral (
        select delivery_id, claimed_at
        from webhook_failed_delivery
        where subscription_id = d.subscription_id and delivery_id = d.id
        limit 1
      ) f on true
      left join lateral (
        select delivery_id, due_at, claimed_at
        from webhook_pending_delivery
        where subscription_id = d.subscription_id and delivery_id = d.id
        limit 1
      ) p on true
      -- One that the worker has not queued yet.
      left join lateral (
        select created_at
        from webhook_replay
        where delivery_id = d.id and ended_at is null and cancelled_at is null
        limit 1
      ) retry on true
      where d.id = any ($1::bigint[]) and d.id between $2::bigint and $3::bigint
        and ($4::bigint is null or d.account_id = $4)
      order by d.id desc`;
  return database.query<DeliveryRow>(statement, [ids, ids.at(-1), ids[0], accountId]);
}
