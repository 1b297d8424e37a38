import { clockStep, daysOfExpired, idsPerDay } from '@deedwire/webhooks/tables';
import type { PulledSubscription } from './statements.ts';

/** How many partitions a statement reads. A partition costs 3 locks. */
export const daysPerStatement = 10;

/** Ids are drawn within a millisecond in any order. */
const idsPerMs = 1n << 22n;

export function startOfMs(id: bigint): bigint {
  return (id / idsPerMs) * idsPerMs;
}

/** Whether retention can have dropped deliveries of the subscription. They belonged to days before. */
export function canHaveDropped(subscription: PulledSubscription): boolean {
  return BigInt(subscription.id) - clockStep < droppedBefore(subscription);
}

/** Retention has dropped no delivery with this id or a later one. */
export function droppedBefore({ expiredBefore }: PulledSubscription): bigint {
  return expiredBefore - BigInt(daysOfExpired) * idsPerDay;
}
