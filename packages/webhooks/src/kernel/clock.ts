/** The time of the database, and timers. Tests pass a virtual clock. */
export interface Clock {
  /** Milliseconds since 1970 by the database clock. Can step forward or back when the clock of the database is corrected. */
  nowMs(): number;
  /**
   * Calls `callback` once after `delayMs` of elapsed time, even if the clock is corrected meanwhile. With 0, it runs
   * after other work that is ready.
   *
   * @returns a function that cancels the timer
   */
  setTimer(callback: () => void, delayMs: number): () => void;
}

const firstMs = 50;
const maxMs = 2_000;

/** Retry delays while storage is unavailable: 50 ms, doubling up to 2 s. */
export class Backoff {
  #delayMs = firstMs;

  next(): number {
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, maxMs);
    return delayMs;
  }

  /** Call it after a success. Returns whether the call before it had failed. */
  reset(): boolean {
    const hadFailed = this.#delayMs !== firstMs;
    this.#delayMs = firstMs;
    return hadFailed;
  }
}

/** Waits that end early when the work stops. */
export class Pauses {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #ends = new Set<() => void>();
  #isStopped = false;

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
  }

  /** Resolves after this time with true, or with false as soon as the work stops. */
  wait(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#isStopped) return resolve(false);
      const end = (): void => {
        cancel();
        this.#ends.delete(end);
        resolve(!this.#isStopped);
      };
      const cancel = this.#clock.setTimer(end, delayMs);
      this.#ends.add(end);
    });
  }

  stop(): void {
    this.#isStopped = true;
    for (const end of this.#ends) end();
  }
}
