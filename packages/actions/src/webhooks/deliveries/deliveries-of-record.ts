import type { AccountId, RecordId } from '@deedwire/core';
import { type Database, type PageQuery, sql } from '@deedwire/store';
import {
  type DeliveryId,
  type EventId,
  type IdRange,
  splitByDays,
  type SubscriptionId,
} from '@deedwire/webhooks/tables';
import { collectPage, daysMax, type DeliveryFilter } from './deliveries.ts';
import { selectBoundsOfAllAccounts, selectListedSubscriptions } from './delivery-ids.ts';
import {
  betweenTimes,
  type DeliveryStatus,
  type FoundIds,
  type FoundPage,
  intersect,
  type ListBounds,
  listedRange,
} from './pages.ts';

/** The events about a record. */
export interface RecordEvents {
  recordId: RecordId<string>;
  /** Whether its id says when it was drawn. Otherwise it is a hash of the id, which another record can share. */
  isDrawn: boolean;
  /** Those that are about a record of this type: records of two types can have equal ids. */
  eventTypes: readonly string[];
  /** Null for all of them. */
  eventId: EventId | null;
}

/** As `DeliveryFilter`, or the deliveries of all accounts. */
export type RecordFilter =
  | DeliveryFilter
  | (Pick<DeliveryFilter, 'since' | 'status' | 'until'> & { accountId: null; subscriptionId: null });

/** Each row costs up to one buffer, and four more with a status. */
const rowsPerStatement = 50;

const readMax = 200;

/**
 * Returns the deliveries of the events about a record, newest first. Reads at most 200 deliveries of the record, so the page can be
 * short if there are further filters. Each statement reads a bounded number of rows and partitions.
 *
 * @param events null if there can be none
 * @param onFurtherPart called for each statement that reads a part of the history because those before it did not fill the page
 */
export async function selectDeliveriesOfRecord(
  database: Database,
  filter: RecordFilter,
  events: RecordEvents | null,
  { afterId, limit }: PageQuery<'WebhookDelivery'>,
  onFurtherPart: () => void = () => {},
): Promise<FoundPage> {
  const { accountId, subscriptionId, status, since = null, until = null } = filter;
  return collectPage(database, filter, limit, search());

  async function* search(): AsyncGenerator<FoundIds> {
    const bounds = events && (await readBounds(database, filter));
    if (events === null || bounds === null) return;
    const { recordId, isDrawn, eventTypes, eventId } = events;
    // No event about the record is older than the record, and no delivery older than its event.
    const oldest = eventId ?? (isDrawn ? recordId : bounds.oldestSubscriptionId);
    const ofRecord = { ...bounds, oldestSubscriptionId: oldest };
    const all = intersect(listedRange(ofRecord, null, afterId), listedRange(ofRecord, status, afterId));
    let isFirst = true;
    let read = 0;
    for (const range of splitByDays(betweenTimes(all, since, until), daysMax)) {
      let accountIds = accountId === null ? null : [accountId];
      for (let before: bigint | null = range.before; before !== null;) {
        if (!isFirst) onFurtherPart();
        isFirst = false;
        accountIds ??= await selectAccountsOf(database, recordId, range);
        const found: RecordRow[] = await selectRows(database, { recordId, accountIds }, status, { ...range, before });
        read += found.length;
        const last: RecordRow | undefined = found[rowsPerStatement - 1];
        const listed = found.filter(
          (row) =>
            row.canHaveStatus &&
            eventTypes.includes(row.eventType) &&
            (eventId === null || row.eventId === eventId) &&
            (subscriptionId === null || row.subscriptionId === subscriptionId),
        );
        const readTo = last !== undefined && read >= readMax ? last.id : null;
        yield { ids: listed.map(({ id }) => id), readTo };
        before = last === undefined ? null : BigInt(last.id);
      }
    }
  }
}

/** Null if the list is empty. */
async function readBounds(database: Database, filter: RecordFilter): Promise<ListBounds | null> {
  if (filter.accountId === null && filter.subscriptionId === null) return selectBoundsOfAllAccounts(database);
  const listed = await selectListedSubscriptions(database, filter);
  return listed.subscriptionIds.length === 0 ? null : listed;
}

// A type alias, because rows need an index signature.
type RecordRow = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  eventType: string;
  eventId: EventId;
  canHaveStatus: boolean;
};

const isIn = (table: string): string =>
  `(select true from ${table} where subscription_id = d.subscription_id and delivery_id = d.id limit 1)`;

/** Costs half as much as to load a delivery and find that it has another status. */
const conditions: Record<DeliveryStatus, string> = {
  PENDING: `${isIn('webhook_pending_delivery')} is true`,
  DELIVERED: `${isIn('webhook_pending_delivery')} is null`,
  FAILED: `${isIn('webhook_failed_delivery')} is true`,
  EXPIRED: `${isIn('webhook_failed_delivery')} is true`,
};

/**
 * The newest deliveries of a record in a range, newest first. Served by webhook_delivery_by_record: `= any (array[…])` and the order by
 * all of its columns force this index. Without further conditions, so that the limit bounds what is read. No account reads the rows
 * of another one: their number would show that its record exists.
 */
async function selectRows(
  database: Database,
  { accountIds, recordId }: Pick<RecordEvents, 'recordId'> & { accountIds: readonly AccountId[] },
  status: DeliveryStatus | null,
  range: IdRange,
): Promise<RecordRow[]> {
  const statement = sql(
    `select-deliveries-of-record${status === null ? '' : `-${status.toLowerCase()}`}`,
    'in-index-order',
  )`
      select d.id, d.subscription_id as "subscriptionId", d.event_type as "eventType", d.event_id as "eventId",
        ${status === null ? 'true' : conditions[status]} as "canHaveStatus"
      from unnest($1::bigint[]) as a (id)
      cross join lateral (
        select id, subscription_id, event_type, event_id
        from webhook_delivery
        where record_id = any (array[$2::bigint]) and account_id = any (array[a.id]) and id >= $3::bigint and id < $4::bigint
        order by record_id desc, account_id desc, id desc
        limit $5
      ) d
      order by d.id desc
      limit $5`;
  return database.query<RecordRow>(statement, [accountIds, recordId, range.min, range.before, rowsPerStatement]);
}

const nextAccount = (condition: string): string => `
  select account_id as id
  from webhook_delivery
  where record_id = any (array[$1::bigint]) ${condition} and id >= $2::bigint and id < $3::bigint
  order by record_id, account_id
  limit 1`;

/** The accounts with deliveries of a record. Reads webhook_delivery_by_record once for each, not all of their rows. */
async function selectAccountsOf(
  database: Database,
  recordId: RecordEvents['recordId'],
  range: IdRange,
): Promise<AccountId[]> {
  const statement = sql('select-accounts-of-record', 'in-index-order')`
      with recursive account as (
        (${nextAccount('')})
        union all
        select (${nextAccount('and account_id > account.id')}) from account where account.id is not null
      )
      select id from account where id is not null`;
  const rows = await database.query<{ id: AccountId }>(statement, [recordId, range.min, range.before]);
  return rows.map(({ id }) => id);
}
