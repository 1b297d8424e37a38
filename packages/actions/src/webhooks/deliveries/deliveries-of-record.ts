import type { AccountId, EventRecordType, RecordId } from '@deedwire/domain';
import type { Database, PageQuery } from '@deedwire/store';
import { type DeliveryId, type IdRange, splitByDays, type SubscriptionId } from '@deedwire/webhooks/tables';
import { daysMax, type DeliveryFilter, selectDeliveriesById } from './deliveries.ts';
import { selectBoundsOfAllAccounts, selectListedSubscriptions } from './delivery-ids.ts';
import { betweenTimes, type DeliveryRow, type DeliveryStatus, type ListBounds, listedRange } from './pages.ts';

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

/** Each row costs up to one buffer. */
const rowsPerStatement = 50;

/**
 * Returns the deliveries of the events about a record, newest first. Each statement reads a bounded number of rows and partitions.
 *
 * @param onFurtherPart called for each statement that reads a part of the history because those before it did not fill the page
 */
export async function selectDeliveriesOfRecord(
  database: Database,
  filter: RecordFilter,
  events: RecordEvents,
  { afterId, limit }: PageQuery<'WebhookDelivery'>,
  onFurtherPart: () => void = () => {},
): Promise<DeliveryRow[]> {
  const bounds = await readBounds(database, filter);
  if (bounds === null) return [];
  const { accountId, status, since = null, until = null } = filter;
  // No event about the record is older than the record.
  const listed = listedRange({ ...bounds, oldestSubscriptionId: events.recordId }, null, afterId);
  const rows: DeliveryRow[] = [];
  let isFirst = true;
  for (const { min, before } of splitByDays(betweenTimes(listed, since, until), daysMax)) {
    for (let end: bigint | null = before; end !== null;) {
      if (!isFirst) onFurtherPart();
      isFirst = false;
      const read: RecordRow[] = await selectRows(database, events.recordId, status, { min, before: end });
      const ids = read.filter((row) => isListed(filter, events, row)).map(({ id }) => id);
      while (ids.length > 0 && rows.length < limit) {
        const loaded = await selectDeliveriesById(database, accountId, ids.splice(0, limit - rows.length));
        rows.push(...loaded.filter((row) => status === null || row.status === status));
      }
      if (rows.length >= limit) return rows;
      const last: RecordRow | undefined = read[rowsPerStatement - 1];
      end = last === undefined ? null : BigInt(last.id);
    }
  }
  return rows;
}

/** Without the account, the deliveries of a foreign record would be loaded before they are left out, and the time would show them. */
function isListed(filter: RecordFilter, { eventTypes }: RecordEvents, row: RecordRow): boolean {
  const { accountId, subscriptionId } = filter;
  return (
    row.canHaveStatus &&
    eventTypes.includes(row.eventType) &&
    (accountId === null || row.accountId === accountId) &&
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
  accountId: AccountId;
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
 * The newest deliveries of a range, newest first. Served by webhook_delivery_by_record: `= any (array[…])` and the order by both of its
 * columns force this index. Without further conditions, so that the limit bounds what is read.
 */
async function selectRows(
  database: Database,
  recordId: RecordEvents['recordId'],
  status: DeliveryStatus | null,
  range: IdRange,
): Promise<RecordRow[]> {
  const statement = {
    name: `select-deliveries-of-record${status === null ? '' : `-${status.toLowerCase()}`}`,
    planning: 'in-index-order' as const,
    text: `
      select id, account_id as "accountId", subscription_id as "subscriptionId", event_type as "eventType",
        ${status === null ? 'true' : conditions[status]} as "canHaveStatus"
      from webhook_delivery d
      where record_id = any (array[$1::bigint]) and id >= $2::bigint and id < $3::bigint
      order by record_id desc, id desc
      limit $4`,
  };
  return database.query<RecordRow>(statement, [recordId, range.min, range.before, rowsPerStatement]);
}
