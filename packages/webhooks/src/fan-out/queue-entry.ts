import type { EventId, SubscriptionId } from '../kernel/ids.ts';

/** The position of an entry in the queue. Drawn from one sequence for all shards; well below 2^53. */
export type QueuePosition = number;

/** An entry of webhook_event_queue. One of the ids is not null. */
export interface QueueEntry {
  readonly position: QueuePosition;
  readonly eventId: EventId | null;
  readonly subscriptionId: SubscriptionId | null;
  /** How many workers claimed the entry and died before they finished it. */
  readonly claims: number;
  /** This worker has counted its claim, or does not need to. */
  isCounted: boolean;
  /** The change of the subscription was applied: the entry only needs to be deleted. */
  isApplied: boolean;
  /** The database refused what the entry leads to, or its change cannot be applied: the next round blocks it. */
  isRefused: boolean;
}

export function queueEntry(
  position: QueuePosition,
  eventId: EventId | null,
  subscriptionId: SubscriptionId | null,
  claims: number,
): QueueEntry {
  return { position, eventId, subscriptionId, claims, isCounted: true, isApplied: false, isRefused: false };
}

/** Whether the entry is a change of a subscription that this worker has not tried to apply. */
export function isOpenChange(entry: QueueEntry): boolean {
  return entry.eventId === null && !entry.isApplied && !entry.isRefused;
}

/** An entry that was claimed this often may have ended its processes. It runs in a separate round. */
const claimsToIsolate = 3;

/** An entry that was claimed this often fails. */
const claimsMax = 5;

export function mustRunIsolated(entry: QueueEntry): boolean {
  return entry.claims >= claimsToIsolate;
}

export function isGivenUp(entry: QueueEntry): boolean {
  return entry.claims >= claimsMax;
}
