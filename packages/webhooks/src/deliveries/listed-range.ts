import { idAt } from '@deedwire/domain';
import type { DeliveryId } from '../kernel/ids.ts';
import type { DeliveryStatus } from './delivery-row.ts';
import { idsPerDay, type IdRange } from './id-range.ts';

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

// The clock of the database can be set back: a record can have a smaller id than one that was inserted before it.
const clockStepDays = 1n;

// Deliveries are deleted 7 days after they expire, a day at a time.
const expiredDays = 9n;

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
      return { min: 0n, before: after };
    case 'FAILED':
      return { min: expiredBefore, before: after };
    case 'EXPIRED':
      return { min: 0n, before: smaller(after, expiredBefore) };
    case 'DELIVERED':
    case null: {
      const { oldestSubscriptionId, now } = bounds;
      const newest = BigInt(idAt(now)) + clockStepDays * idsPerDay;
      const oldest =
        (oldestSubscriptionId === null ? newest : BigInt(oldestSubscriptionId)) - clockStepDays * idsPerDay;
      const oldestDay = larger(oldest, expiredBefore - expiredDays * idsPerDay) / idsPerDay;
      return { min: larger(0n, oldestDay) * idsPerDay, before: smaller(after, newest) };
    }
  }
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
