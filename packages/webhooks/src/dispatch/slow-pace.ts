/** Starts that were missed in this time are made up for, earlier ones are not. */
const missedMs = 4;

/**
 * Spreads requests to slow receivers over time. When a thousand requests that hang time out at once, starting the next
 * thousand at once would keep the process busy for some hundred milliseconds, and again five seconds later.
 *
 * After a request with the expected duration `d`, the next one starts after `d / slots / 2`. At that pace, requests of
 * this duration fill all slots within half their duration, so the pace does not limit how many slow lanes deliver.
 */
export class SlowPace {
  readonly #slots: number;
  /** When the next request of a slow lane may start. */
  nextMs = -Infinity;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Call it when a request of a slow lane starts. */
  started(expectedMs: number, nowMs: number): void {
    this.nextMs = Math.max(this.nextMs, nowMs - missedMs) + expectedMs / this.#slots / 2;
  }
}
