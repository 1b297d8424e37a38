import type { QueuedDelivery } from './lane.ts';

/** After a turn, other deliveries run for four times as long as the turn kept them waiting. */
const othersShare = 4;

/**
 * Deliveries that were taken three times without a result. Each may be the one that ends the process, so each gets a turn in
 * which nothing else is in flight.
 */
export class IsolatedRuns {
  readonly #waiting: QueuedDelivery[] = [];
  #blockedSinceMs: number | null = null;

  /** Other deliveries run now. */
  isCoolingDown = false;
  /** The delivery that has the turn and is in flight or not settled. */
  running: QueuedDelivery | null = null;

  add(queued: QueuedDelivery): void {
    this.#waiting.push(queued);
  }

  /** Whether it is the turn of such a delivery, so that no other may start. */
  blocksOthers(nowMs: number): boolean {
    if (this.running !== null) return true;
    const blocksOthers = this.#waiting.length > 0 && !this.isCoolingDown;
    this.#blockedSinceMs = blocksOthers ? (this.#blockedSinceMs ?? nowMs) : null;
    return blocksOthers;
  }

  /** The waiting delivery that was taken least often. */
  get next(): QueuedDelivery | undefined {
    let next: QueuedDelivery | undefined;
    for (const queued of this.#waiting) {
      if (next === undefined || queued.delivery.claims < next.delivery.claims) next = queued;
    }
    return next;
  }

  remove(queued: QueuedDelivery): void {
    this.#waiting.splice(this.#waiting.indexOf(queued), 1);
  }

  /**
   * Ends the turn, and begins the rest.
   *
   * @returns how long the rest takes, in milliseconds
   */
  end(nowMs: number): number {
    const cooldownMs = othersShare * (nowMs - (this.#blockedSinceMs ?? nowMs));
    this.running = null;
    this.isCoolingDown = true;
    this.#blockedSinceMs = null;
    return cooldownMs;
  }
}
