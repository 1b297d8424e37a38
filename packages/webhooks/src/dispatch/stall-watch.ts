import type { Clock } from '../kernel/clock.ts';

/**
 * Detects that work is waiting and none of it was completed for a given time. Uses timers only, so that clock
 * corrections do not matter.
 */
export class StallWatch {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #limitMs: number;
  readonly #onStalled: () => void;
  #cancelTimer: (() => void) | null = null;

  isStalled = false;

  constructor(clock: Pick<Clock, 'setTimer'>, limitMs: number, onStalled: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onStalled = onStalled;
  }

  addWork(): void {
    if (this.#cancelTimer === null && !this.isStalled) this.#start();
  }

  /** @param hasMore whether other work is waiting */
  completeWork(hasMore: boolean): void {
    this.isStalled = false;
    this.stop();
    if (hasMore) this.#start();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #start(): void {
    this.#cancelTimer = this.#clock.setTimer(() => {
      this.#cancelTimer = null;
      this.isStalled = true;
      this.#onStalled();
    }, this.#limitMs);
  }
}
