import { nearestIdAt } from '@deedwire/domain';
import type { Store } from '@deedwire/store';
import { findFirstNumbered, isLastBefore } from './webhooks/pull/first-numbered.ts';
import type { PulledSubscription } from './webhooks/pull/statements.ts';

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
