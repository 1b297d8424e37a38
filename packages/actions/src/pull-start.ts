import { nearestIdAt } from '@deedwire/domain';
import type { Store } from '@deedwire/store';
import { findFirstNumbered, type PulledSubscription } from '@deedwire/webhooks/pull';

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
  const first = lastSequence === 0 ? null : await findFirstNumbered(store, subscription, fromId);
  if (first === null) return { sequence: lastSequence, fromId, isFound: false, isProven: true };
  return { sequence: first.sequence - 1, fromId, isFound: true, isProven: first.isProven };
}
