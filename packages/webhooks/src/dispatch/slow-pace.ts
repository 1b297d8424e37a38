/** At most as many requests of slow lanes are made up for as were missed in this time. */
const missedMs = 4;

/**
 * Spreads the starts of requests to slow receivers over time. When a thousand requests that hang end at once, starting the next
 * thousand at once would keep the process busy for some hundred milliseconds, five seconds later again, and so on.
 *
 * After a request that is expected to take `d`, the next one starts after `d / slots / 2`. At that pace, requests of this
 * duration fill all slots in half their duration, so the pace does not limit how many slow lanes deliver.
 */
export class SlowPace {
  readonly #slots: number;
  /** When the next request of a slow lane may start. */
  nextMs = -Infinity;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** A request of a slow lane starts now. */
  started(expectedMs: number, nowMs: number): void {
    this.nextMs = Math.max(this.nextMs, nowMs - missedMs) + expectedMs / this.#slots / 2;
  }
}
