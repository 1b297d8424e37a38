import { nearestIdAt } from '@deedwire/core';
import type { Database, Store } from '@deedwire/store';
import { splitByDays, clockStep, storedRange, daysOfExpired, idsPerDay } from '@deedwire/webhooks/tables';
import { splitForward } from '../deliveries/pages.ts';
import {
  type NumberedId,
  type PulledSubscription,
  selectLowestNumber,
  selectNumbered,
  selectNumbers,
} from './statements.ts';

/** The lowest number among the deliveries of a subscription from an id on. */
export interface FirstNumbered {
  sequence: number;
  /** Whether the delivery before it was found before the id, or does not exist, or can have been dropped by retention. */
  isProven: boolean;
}

/**
 * Finds the number with which a list of all deliveries from an id on begins. Null if there is no such delivery. No index has the
 * numbers: ids follow them, except where the clock was set back.
 */
export async function findFirstNumbered(
  database: Database,
  subscription: PulledSubscription,
  fromId: bigint,
): Promise<FirstNumbered | null> {
  const { id } = subscription;
  const stored = storedRange(subscription);
  const from = fromId > stored.min ? fromId : stored.min;
  const oldest = await firstNumbers(
    database,
    id,
    splitForward({ min: from, before: stored.before }, daysPerStatement),
    'oldest',
  );
  if (oldest.length === 0) return null;
  const lowest = Math.min(...oldest.map(({ sequence }) => sequence));
  if (lowest === 1) return { sequence: lowest, isProven: true };

  const earlier = { min: stored.min, before: from };
  const newest = await firstNumbers(database, id, splitByDays(earlier, daysPerStatement), 'newest');
  if (newest.some(({ sequence }) => sequence === lowest - 1)) return { sequence: lowest, isProven: true };
  if (newest.length === 0 && canHaveDropped(subscription)) return { sequence: lowest, isProven: true };

  // The clock was set back meanwhile, or a delivery is missing.
  const readTo = BigInt(oldest.at(-1)?.id ?? from);
  const sequence = (await selectLowestNumber(database, id, { min: from, before: readTo + clockStep })) ?? lowest;
  if (sequence === 1) return { sequence, isProven: true };
  for (const range of splitByDays(earlier, daysPerStatement)) {
    const found = await selectNumbered(database, id, range, { after: sequence - 2, until: sequence - 1 });
    if (found.length > 0) return { sequence, isProven: true };
  }
  return { sequence, isProven: canHaveDropped(subscription) && newest.length === 0 };
}

/**
 * Whether the delivery with the last number was found before an id, or can have been dropped by retention: proves that a list from
 * the id on, in which nothing was found, is empty.
 */
export async function isLastBefore(
  database: Database,
  subscription: PulledSubscription,
  fromId: bigint,
): Promise<boolean> {
  const { id, lastSequence } = subscription;
  const { min } = storedRange(subscription);
  const earlier = { min, before: fromId };
  const newest = await firstNumbers(database, id, splitByDays(earlier, daysPerStatement), 'newest');
  if (newest.some(({ sequence }) => sequence >= lastSequence)) return true;
  const [latest] = newest;
  // Where the clock was set back, the last delivery has an earlier id than some before it.
  if (latest === undefined || BigInt(latest.id) < droppedBefore(subscription) + clockStep)
    return canHaveDropped(subscription);
  for (const range of splitByDays(earlier, daysPerStatement)) {
    const found = await selectNumbered(database, id, range, { after: lastSequence - 1, until: lastSequence });
    if (found.length > 0) return true;
  }
  return false;
}

/** The numbers of the first range that has a delivery. */
async function firstNumbers(
  database: Database,
  id: PulledSubscription['id'],
  ranges: Iterable<{ min: bigint; before: bigint }>,
  end: 'oldest' | 'newest',
): Promise<NumberedId[]> {
  for (const range of ranges) {
    const found = await selectNumbers(database, id, range, end);
    if (found.length > 0) return found;
  }
  return [];
}

/** How many partitions a statement reads. A partition costs 4 locks. */
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

/** Where the events of a subscription begin. */
export interface PullStart {
  /** The first event has the next sequence. That of the last event if there is none. */
  sequence: number;
  /** The events have this id of a delivery or a later one. */
  fromId: bigint;
  /** There is an event. */
  isFound: boolean;
  /** Otherwise the event with this sequence is missing, although it must exist. */
  isProven: boolean;
}

/** Finds the first event that was numbered at `since` or later. Null selects the first one that is kept. */
export async function findPullStart(
  store: Store,
  subscription: PulledSubscription,
  since: Date | null,
): Promise<PullStart> {
  const { expiredBefore, lastSequence } = subscription;
  const sinceId = since === null ? 0n : BigInt(nearestIdAt(since));
  const fromId = sinceId > expiredBefore ? sinceId : expiredBefore;
  if (lastSequence === 0) return { sequence: 0, fromId, isFound: false, isProven: true };
  const first = await findFirstNumbered(store, subscription, fromId);
  if (first === null) {
    const isProven = await isLastBefore(store, subscription, fromId);
    return { sequence: lastSequence, fromId, isFound: false, isProven };
  }
  return { sequence: first.sequence - 1, fromId, isFound: true, isProven: first.isProven };
}
