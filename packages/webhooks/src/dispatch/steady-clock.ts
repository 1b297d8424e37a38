import type { Clock } from '../kernel/clock.ts';

/**
 * The database clock, but it never steps back. The dispatcher waits by this time, so that a database clock that is set
 * back by ten seconds does not delay a retry, a probe or a new delivery by ten seconds.
 */
export class SteadyClock {
  readonly #clock: Clock;
  #lastMs: number;

  /** Steady time minus database time, in milliseconds: the sum of all steps back so far. */
  offsetMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastMs = clock.nowMs();
  }

  /** Never decreases. */
  nowMs(): number {
    const databaseMs = this.#clock.nowMs();
    const steadyMs = databaseMs + this.offsetMs;
    if (steadyMs < this.#lastMs) {
      this.offsetMs = this.#lastMs - databaseMs;
      return this.#lastMs;
    }
    this.#lastMs = steadyMs;
    return steadyMs;
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    return this.#clock.setTimer(callback, delayMs);
  }
}
