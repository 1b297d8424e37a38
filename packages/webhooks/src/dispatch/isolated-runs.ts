import type { QueuedDelivery } from './lane.ts';

/** After an isolated run, other deliveries run for four times as long as it blocked them. */
const othersShare = 4;

/**
 * Sends deliveries that were claimed three times without a result. Such a delivery may have ended its workers, so nothing
 * else is in flight during its request.
 *
 * | state        | other deliveries | ends                                            |
 * | ------------ | ---------------- | ----------------------------------------------- |
 * | idle         | start            | when a delivery is added                        |
 * | waiting      | are blocked      | when all of them have ended and are recorded    |
 * | running      | are blocked      | when the result of the delivery is recorded     |
 * | cooling down | start            | after four times as long as others were blocked |
 */
export class IsolatedRuns {
  readonly #waiting: QueuedDelivery[] = [];
  #blockedSinceMs: number | null = null;

  /** Other deliveries run, although deliveries wait for an isolated run. */
  isCoolingDown = false;
  /** The delivery in its isolated run: in flight or unsettled. */
  running: QueuedDelivery | null = null;

  add(queued: QueuedDelivery): void {
    this.#waiting.push(queued);
  }

  /** Whether an isolated run is waiting or running, so that no other delivery may start. */
  blocksOthers(nowMs: number): boolean {
    if (this.running !== null) return true;
    const blocksOthers = this.#waiting.length > 0 && !this.isCoolingDown;
    this.#blockedSinceMs = blocksOthers ? (this.#blockedSinceMs ?? nowMs) : null;
    return blocksOthers;
  }

  /** The waiting delivery with the fewest claims. */
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
   * Ends the isolated run and starts the cooldown.
   *
   * @returns the duration of the cooldown in milliseconds
   */
  end(nowMs: number): number {
    const cooldownMs = othersShare * (nowMs - (this.#blockedSinceMs ?? nowMs));
    this.running = null;
    this.isCoolingDown = true;
    this.#blockedSinceMs = null;
    return cooldownMs;
  }
}
