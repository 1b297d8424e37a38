import { type AccountId, nearestIdAt } from '@deedwire/core';
import {
  type IdRange,
  idsPerDay,
  storedRange,
  type DeliveryId,
  type SubscriptionId,
  type EventId,
} from '@deedwire/webhooks/tables';

/** Splits a range at the limits of partitions, oldest first. Each part lies within `days` partitions. */
export function* splitForward({ min, before }: IdRange, days: number): Generator<IdRange> {
  for (let start = min; start < before;) {
    const end = (start / idsPerDay + BigInt(days)) * idsPerDay;
    yield { min: start, before: end < before ? end : before };
    start = end;
  }
}

/** Divides ids, newest first, into groups of at most `size` ids within `days` partitions. Keeps the order. */
export function groupIds<Id extends string>(ids: readonly Id[], size: number, days: number): Id[][] {
  const groups: Id[][] = [];
  for (const id of ids) {
    const group = groups.at(-1);
    const [newest] = group ?? [];
    const isNear = newest !== undefined && BigInt(newest) / idsPerDay - BigInt(id) / idsPerDay < BigInt(days);
    if (group !== undefined && isNear && group.length < size) group.push(id);
    else groups.push([id]);
  }
  return groups;
}

/** Calls `onFurther` before each range but the first. A page reads them while it is not full. */
export function* reportFurther(ranges: Iterable<IdRange>, onFurther: () => void): Generator<IdRange> {
  let isFirst = true;
  for (const range of ranges) {
    if (!isFirst) onFurther();
    isFirst = false;
    yield range;
  }
}

/** The bounds of the ids that a list can contain. */
export interface ListBounds {
  /** The smallest id of the subscriptions in the list. Null if there is none. */
  oldestSubscriptionId: string | null;
  /** Deliveries with a smaller id have expired, unless they were delivered. */
  expiredBefore: string;
  /** By the clock of the database. */
  now: Date;
}

const largestId = 2n ** 63n - 1n;

/**
 * Returns the ids that a list can contain. Without bounds on both sides, a page that is not full would search every
 * partition.
 *
 * @param status null for deliveries of any status
 * @param afterId the last delivery of the previous page. Null for the first page.
 */
export function listedRange(bounds: ListBounds, status: DeliveryStatus | null, afterId: DeliveryId | null): IdRange {
  const after = afterId === null ? largestId : BigInt(afterId);
  const expiredBefore = BigInt(bounds.expiredBefore);
  switch (status) {
    case 'PENDING':
    case 'EXPIRED':
      return { min: 0n, before: after };
    case 'FAILED':
      return { min: expiredBefore, before: after };
    case 'DELIVERED':
    case null: {
      const { min, before } = storedRange({
        id: bounds.oldestSubscriptionId ?? String(largestId),
        expiredBefore,
        now: bounds.now,
      });
      return { min, before: smaller(after, before) };
    }
  }
}

export function intersect(a: IdRange, b: IdRange): IdRange {
  return { min: larger(a.min, b.min), before: smaller(a.before, b.before) };
}

/** The part of a range that was drawn at `since` or later, and before `until`. Null does not restrict it. */
export function betweenTimes({ min, before }: IdRange, since: Date | null, until: Date | null): IdRange {
  return {
    min: since === null ? min : larger(min, BigInt(nearestIdAt(since))),
    before: until === null ? before : smaller(before, BigInt(nearestIdAt(until))),
  };
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** The next deliveries of a list or of a search, newest first. */
export interface FoundIds {
  /** Those that belong in the list, unless their status has changed, their subscription is deleted, or it is a listener. */
  ids: readonly DeliveryId[];
  /** The oldest delivery that was read, if a search has read as many as it may. Otherwise null. */
  readTo: DeliveryId | null;
}

/** At most as many deliveries as a page has, newest first, and where a search continues that ended before the page was full. */
export interface FoundPage extends Pick<FoundIds, 'readTo'> {
  rows: DeliveryRow[];
}

/** Returns the newest ids of a range, newest first: `wanted` ids, or fewer if the range contains no others. */
export type ReadRange = (range: IdRange, wanted: number) => Promise<DeliveryId[]>;

/** The ids of ranges, one range after the other. */
export async function* findIds(
  ranges: Iterable<IdRange>,
  readIds: ReadRange,
  wanted: number,
): AsyncGenerator<FoundIds> {
  for (const { min, before } of ranges) {
    for (let end: bigint | null = before; end !== null;) {
      const ids: DeliveryId[] = await readIds({ min, before: end }, wanted);
      yield { ids, readTo: null };
      const last: DeliveryId | undefined = ids[wanted - 1];
      end = last === undefined ? null : BigInt(last);
    }
  }
}

/** Whose deliveries: those of an account, or to one of its subscriptions, or to one subscription of any account. */
export type DeliveriesOwner =
  | { accountId: AccountId; subscriptionId: SubscriptionId | null }
  | { accountId: null; subscriptionId: SubscriptionId };

/** A subscription, and where its list continues. */
export interface ListPosition {
  subscriptionId: SubscriptionId;
  /** Only smaller ids. */
  before: bigint;
}

export interface DeliveryIdRow {
  subscriptionId: SubscriptionId;
  id: DeliveryId;
}

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED' | 'EXPIRED';

export interface DeliveryRow {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  sequence: string;
  status: DeliveryStatus;
  eventId: EventId;
  eventType: string;
  eventVersion: string;
  isTest: boolean;
  occurredAt: Date;
  /** When the next attempt is due. Null if none is planned. */
  dueAt: Date | null;
  payloadDeletion: PayloadDeletion | null;
  claimedAt: Date[] | null;
}

/** Why the payload of a delivery is deleted, or will be within a day. */
export type PayloadDeletion = 'ERASED' | 'RETENTION';

/** Reads the newest rows before each position, at most `limit` per subscription. */
export type ReadIds<Row extends DeliveryIdRow> = (
  positions: readonly ListPosition[],
  range: IdRange,
  limit: number,
) => Promise<readonly Row[]>;

interface ReadRow<Row> {
  /** To compare: the text of an id is not in the order of ids. */
  id: bigint;
  row: Row;
}

/** What has been read of a subscription and not been returned yet. */
interface OpenSubscription<Row> extends ListPosition {
  /** Oldest first, so that the newest is taken from the end. */
  rows: ReadRow<Row>[];
  isComplete: boolean;
}

/**
 * Merges the deliveries of several subscriptions within a range, newest first. Keeps what it has read, so that a statement
 * reads only the subscriptions of which nothing is left.
 *
 * @param rowsPerStatement how many rows a statement reads of all subscriptions together
 */
export async function* mergeIds<Row extends DeliveryIdRow>(
  read: ReadIds<Row>,
  subscriptionIds: readonly SubscriptionId[],
  range: IdRange,
  rowsPerStatement: number,
): AsyncGenerator<Row> {
  let open = subscriptionIds.map((subscriptionId): OpenSubscription<Row> => ({
    subscriptionId,
    before: range.before,
    rows: [],
    isComplete: false,
  }));
  while (open.length > 0) {
    const empty = open.filter(({ rows }) => rows.length === 0);
    if (empty.length > 0) {
      await refill(empty);
      open = open.filter(({ rows }) => rows.length > 0);
    }
    let [newest, newestId] = [open[0], 0n];
    for (const one of open) {
      const { id = 0n } = one.rows.at(-1) ?? {};
      if (id > newestId) [newest, newestId] = [one, id];
    }
    const next = newest?.rows.pop();
    if (next !== undefined) yield next.row;
    if (newest?.isComplete === true && newest.rows.length === 0) open = open.filter((one) => one !== newest);
  }

  async function refill(empty: readonly OpenSubscription<Row>[]): Promise<void> {
    const share = Math.max(1, Math.floor(rowsPerStatement / empty.length));
    const rowsOf = Map.groupBy(await read(empty, range, share), ({ subscriptionId }) => subscriptionId);
    for (const one of empty) {
      const rows = (rowsOf.get(one.subscriptionId) ?? []).map((row): ReadRow<Row> => ({ id: BigInt(row.id), row }));
      rows.sort((a, b) => (a.id < b.id ? -1 : 1));
      one.isComplete = rows.length < share;
      one.before = rows[0]?.id ?? one.before;
      // A delivery with two successful attempts is in the index twice.
      one.rows = rows.filter(({ id }, index) => id !== rows[index + 1]?.id);
    }
  }
}

/** At most `wanted` ids of a range, newest first. Fewer if it contains no others. */
export async function newestIds(
  read: ReadIds<DeliveryIdRow>,
  subscriptionIds: readonly SubscriptionId[],
  range: IdRange,
  wanted: number,
): Promise<DeliveryId[]> {
  const ids: DeliveryId[] = [];
  for await (const { id } of mergeIds(read, subscriptionIds, range, wanted)) if (ids.push(id) === wanted) break;
  return ids;
}
