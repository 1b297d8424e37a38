import type { AccountId, EventRecordType, RecordId } from '@deedwire/domain';
import type { Database, PageQuery } from '@deedwire/store';
import { type DeliveryId, type IdRange, splitByDays, type SubscriptionId } from '@deedwire/webhooks/tables';
import { daysMax, type DeliveryFilter, selectDeliveriesById } from './deliveries.ts';
import { selectBoundsOfAllAccounts, selectListedSubscriptions } from './delivery-ids.ts';
import {
  betweenTimes,
  type DeliveryRow,
  type DeliveryStatus,
  type FoundPage,
  intersect,
  type ListBounds,
  listedRange,
} from './pages.ts';

/** The events about a record. */
export interface RecordEvents {
  recordId: RecordId<EventRecordType>;
  /** Those that are about a record of this type: records of two types can have equal ids. */
  eventTypes: readonly string[];
}

/** As `DeliveryFilter`, or the deliveries of all accounts. */
export type RecordFilter = Pick<DeliveryFilter, 'since' | 'status' | 'until'> & {
  accountId: AccountId | null;
  subscriptionId: SubscriptionId | null;
};

/** Each row costs up to one buffer, and four more with a status. */
const rowsPerStatement = 50;

const readMax = 200;

/**
 * Returns the deliveries of the events about a record, newest first. Reads at most 200 deliveries of the record, so the page can be
 * short if there are further filters. Each statement reads a bounded number of rows and partitions.
 *
 * @param onFurtherPart called for each statement that reads a part of the history because those before it did not fill the page
 */
export async function selectDeliveriesOfRecord(
  database: Database,
  filter: RecordFilter,
  events: RecordEvents,
  { afterId, limit }: PageQuery<'WebhookDelivery'>,
  onFurtherPart: () => void = () => {},
): Promise<FoundPage> {
  const rows: DeliveryRow[] = [];
  const bounds = await readBounds(database, filter);
  if (bounds === null) return { rows, readTo: null };
  const { accountId, status, since = null, until = null } = filter;
  // No event about the record is older than the record.
  const ofRecord = { ...bounds, oldestSubscriptionId: events.recordId };
  const listed = intersect(listedRange(ofRecord, null, afterId), listedRange(ofRecord, status, afterId));
  let isFirst = true;
  let read = 0;
  for (const range of splitByDays(betweenTimes(listed, since, until), daysMax)) {
    let accountIds = accountId === null ? null : [accountId];
    for (let before: bigint | null = range.before; before !== null;) {
      if (!isFirst) onFurtherPart();
      isFirst = false;
      accountIds ??= await selectAccountsOf(database, events.recordId, range);
      const found: RecordRow[] = await selectRows(database, { ...events, accountIds }, status, { ...range, before });
      read += found.length;
      const ids = found.filter((row) => isListed(filter, events, row)).map(({ id }) => id);
      while (ids.length > 0 && rows.length < limit) {
        const loaded = await selectDeliveriesById(database, accountId, ids.splice(0, limit - rows.length));
        rows.push(...loaded.filter((row) => status === null || row.status === status));
      }
      if (rows.length >= limit) return { rows, readTo: null };
      const last: RecordRow | undefined = found[rowsPerStatement - 1];
      if (last !== undefined && read >= readMax) return { rows, readTo: last.id };
      before = last === undefined ? null : BigInt(last.id);
    }
  }
  return { rows, readTo: null };
}

function isListed({ subscriptionId }: RecordFilter, { eventTypes }: RecordEvents, row: RecordRow): boolean {
  return (
    row.canHaveStatus &&
    eventTypes.includes(row.eventType) &&
    (subscriptionId === null || row.subscriptionId === subscriptionId)
  );
}

/** Null if the list is empty. */
async function readBounds(database: Database, { accountId, subscriptionId }: RecordFilter): Promise<ListBounds | null> {
  if (accountId === null) {
    if (subscriptionId === null) return selectBoundsOfAllAccounts(database);
    const listed = await selectListedSubscriptions(database, { subscriptionId });
    return listed.subscriptionIds.length === 0 ? null : listed;
  }
  const listed = await selectListedSubscriptions(database, { accountId });
  const hasAny =
    subscriptionId === null ? listed.subscriptionIds.length > 0 : listed.subscriptionIds.includes(subscriptionId);
  return hasAny ? listed : null;
}

// A type alias, because rows need an index signature.
type RecordRow = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  eventType: string;
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
  const statement = {
    name: `select-deliveries-of-record${status === null ? '' : `-${status.toLowerCase()}`}`,
    planning: 'in-index-order' as const,
    text: `
      select d.id, d.subscription_id as "subscriptionId", d.event_type as "eventType",
        ${status === null ? 'true' : conditions[status]} as "canHaveStatus"
      from unnest($1::bigint[]) as a (id)
      cross join lateral (
        select id, subscription_id, event_type
        from webhook_delivery
        where record_id = any (array[$2::bigint]) and account_id = any (array[a.id]) and id >= $3::bigint and id < $4::bigint
        order by record_id desc, account_id desc, id desc
        limit $5
      ) d
      order by d.id desc
      limit $5`,
  };
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
  const statement = {
    name: 'select-accounts-of-record',
    planning: 'in-index-order' as const,
    text: `
      with recursive account as (
        (${nextAccount('')})
        union all
        select (${nextAccount('and account_id > account.id')}) from account where account.id is not null
      )
      select id from account where id is not null`,
  };
  const rows = await database.query<{ id: AccountId }>(statement, [recordId, range.min, range.before]);
  return rows.map(({ id }) => id);
}
