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
