import type { Lane } from './lane.ts';
import type { PendingDelivery } from './pending-delivery.ts';

/** A delivery in the memory of this process. */
export class QueuedDelivery {
  readonly lane: Lane;
  readonly delivery: PendingDelivery;
  /** By the steady clock. */
  readonly dueAtMs: number;
  readonly sequence: number;
  /** It is in flight, being settled or set aside, so that it must neither be sent again nor be forgotten. */
  isTaken = false;
  /** Its next attempt is counted in storage, which happens only after an expired lease. */
  isCounted = false;
  /** The slot-time that its request was charged when it started. */
  chargedMs = 0;

  constructor(lane: Lane, delivery: PendingDelivery, dueAtMs: number) {
    this.lane = lane;
    this.delivery = delivery;
    this.dueAtMs = dueAtMs;
    this.sequence = Number(delivery.sequence);
  }

  isBefore(other: QueuedDelivery): boolean {
    return this.dueAtMs < other.dueAtMs || (this.dueAtMs === other.dueAtMs && this.sequence < other.sequence);
  }
}
