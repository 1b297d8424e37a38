import type { Clock } from '../../src/kernel/clock.ts';
import { Heap, type HeapNode } from '../../src/kernel/heap.ts';

interface Timer extends HeapNode {
  callback: () => void;
}

/** Runs everything that promises started. */
const settlePromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still until a test advances it. */
export class VirtualClock implements Clock {
  readonly #timers = new Heap<Timer>();
  #elapsedMs = 0;
  #databaseOffsetMs = Date.UTC(2026, 10, 20);

  /** How many timers have fired: each is another turn of the event loop. */
  turns = 0;

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  get timers(): number {
    return this.#timers.size;
  }

  nowMs(): number {
    return this.#databaseOffsetMs + this.#elapsedMs;
  }

  /** Sets the database clock forward or back. Timers are not affected. */
  step(ms: number): void {
    this.#databaseOffsetMs += ms;
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    const timer: Timer = { callback, heapKey: 0, heapOrder: 0, heapIndex: -1 };
    this.#timers.add(timer, this.#elapsedMs + (delayMs === 0 ? 0 : Math.max(1, Math.round(delayMs))));
    return () => {
      if (timer.heapIndex !== -1) this.#timers.remove(timer);
    };
  }

  /** Resolves after the delay in virtual time. */
  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.setTimer(resolve, delayMs);
    });
  }

  /** Runs all timers of the next `ms` milliseconds, and what they cause. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await settlePromises();
    for (let { first } = this.#timers; first !== undefined && first.heapKey <= untilMs; { first } = this.#timers) {
      this.#elapsedMs = first.heapKey;
      this.#runTimersNow();
      await settlePromises();
    }
    this.#elapsedMs = untilMs;
  }

  #runTimersNow(): void {
    for (
      let { first } = this.#timers;
      first !== undefined && first.heapKey <= this.#elapsedMs;
      { first } = this.#timers
    ) {
      this.#timers.remove(first);
      this.turns += 1;
      first.callback();
    }
  }
}
