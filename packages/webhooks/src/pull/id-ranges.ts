import { idAt } from '@deedwire/domain';
import type { IdRange } from '../deliveries/pages.ts';
import { idsPerDay } from '../kernel/ids-per-day.ts';
import { daysOfExpired } from '../retention/partitions.ts';
import type { PulledSubscription } from './statements.ts';

/** The clock of the database can be set back or forward by a day: a delivery can have a smaller id than those that were numbered before it. */
export const clockStep = idsPerDay;

/** How many partitions a statement reads. A partition costs 3 locks. */
export const daysPerStatement = 10;

/** Ids are drawn within a millisecond in any order. */
const idsPerMs = 1n << 22n;

export function startOfMs(id: bigint): bigint {
  return (id / idsPerMs) * idsPerMs;
}

/** The ids that deliveries of a subscription can have, whether they have expired or not. */
export function storedRange({ id, expiredBefore, now }: PulledSubscription): IdRange {
  const created = BigInt(id) - clockStep;
  const dropped = expiredBefore - BigInt(daysOfExpired + 2) * idsPerDay;
  return { min: largest(0n, created, dropped), before: BigInt(idAt(now)) + clockStep };
}

/** Whether retention can have dropped deliveries of the subscription. They belonged to days before. */
export function canHaveDropped(subscription: PulledSubscription): boolean {
  return BigInt(subscription.id) - clockStep < droppedBefore(subscription);
}

/** Retention has dropped no delivery with this id or a later one. */
export function droppedBefore({ expiredBefore }: PulledSubscription): bigint {
  return expiredBefore - BigInt(daysOfExpired) * idsPerDay;
}

function largest(...values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a > b ? a : b));
}
