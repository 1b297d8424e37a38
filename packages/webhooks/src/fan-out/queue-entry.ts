import type { EventId, SubscriptionId } from '../ids.ts';

/** Where an entry is in the queue. Drawn from one sequence for all shards; well below 2^53. */
export type QueuePosition = number;

/** An entry of the queue, as in webhook_event_queue. One of the ids is not null. */
export interface QueueEntry {
  readonly position: QueuePosition;
  readonly eventId: EventId | null;
  readonly subscriptionId: SubscriptionId | null;
  /** How many workers took the entry and died before they finished it. */
  readonly claims: number;
  /** This worker has counted its take, or the entry is not to be counted. */
  isCounted: boolean;
  /** The change that the entry reports was applied: only the entry is left to be deleted. */
  isApplied: boolean;
}

export function queueEntry(
  position: QueuePosition,
  eventId: EventId | null,
  subscriptionId: SubscriptionId | null,
  claims: number,
): QueueEntry {
  return { position, eventId, subscriptionId, claims, isCounted: true, isApplied: false };
}

/** The entry reports that a subscription changed, and this worker has not applied that yet. */
export function isOpenChange(entry: QueueEntry): boolean {
  return entry.eventId === null && !entry.isApplied;
}

/** An entry that was taken this often may be what ends the process. It gets a separate round. */
const claimsToIsolate = 3;

/** An entry that was taken this often is given up. */
const claimsMax = 5;

export function mustRunIsolated(entry: QueueEntry): boolean {
  return entry.claims >= claimsToIsolate;
}

export function isGivenUp(entry: QueueEntry): boolean {
  return entry.claims >= claimsMax;
}
