/** Longest time between two starts. Few requests need no more spreading than this. */
const gapMaxMs = 4;

/** The share of their duration over which the requests in flight restart. */
const spread = 0.8;

/** Starts of this time happen together, because they share reads of targets and statements that record results. */
const groupMs = 32;

/** Starts that were missed in this time are made up for, earlier ones are not. */
const missedMs = 4;

/**
 * Spreads requests to slow receivers over time. When a thousand requests that hang time out at once, starting the next
 * thousand at once would keep the process busy for some hundred milliseconds, and again five seconds later.
 *
 * Of `n` requests that take the time `d`, one starts per `0.8 d / n`, so that all of them start again within 0.8 `d`: the
 * pace spreads them evenly, and does not limit how many slow lanes deliver. This holds for different durations as well,
 * since each request uses `0.8 / n` of the pace. Requests start in groups, one group per 32 ms.
 */
export class SlowPace {
  /** When the next request of a slow lane should start. */
  nextMs = -Infinity;
  #isOpen = true;

  /** Whether a request of a slow lane may start now. */
  mayStart(nowMs: number): boolean {
    this.#isOpen = this.nextMs <= (this.#isOpen ? nowMs + groupMs : nowMs);
    return this.#isOpen;
  }

  /**
   * Call it when a request of a slow lane starts.
   *
   * @param expectedMs how long it will probably take
   * @param requests how many requests are in flight or wait for this pace, at least 1
   */
  start(expectedMs: number, requests: number, nowMs: number): void {
    this.nextMs = Math.max(this.nextMs, nowMs - missedMs) + Math.min(gapMaxMs, (spread * expectedMs) / requests);
  }
}
