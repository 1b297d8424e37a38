import { Backoff } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';

/**
 * Items whose rows another transaction has locked. Repeats the call for each of them separately, one at a time, while
 * calls with other items continue.
 */
export class LockedItems<Item> {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #isDone: (item: Item) => Promise<boolean>;
  readonly #backoff = new Backoff();
  #items: Item[] = [];
  #isCalling = false;
  #isStopped = false;
  #cancelTimer: (() => void) | null = null;

  /** @param isDone makes the call. Resolves with false if it must be repeated. */
  constructor(clock: Pick<Clock, 'setTimer'>, isDone: (item: Item) => Promise<boolean>) {
    this.#clock = clock;
    this.#isDone = isDone;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#plan();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#items = [];
  }

  #plan(): void {
    if (this.#isCalling || this.#isStopped || this.#cancelTimer !== null || this.#items.length === 0) return;
    this.#cancelTimer = this.#clock.setTimer(() => void this.#callForEach(), this.#backoff.next());
  }

  async #callForEach(): Promise<void> {
    this.#cancelTimer = null;
    this.#isCalling = true;
    const items = this.#items;
    this.#items = [];
    for (const item of items) {
      const isDone = await this.#isDone(item);
      if (this.#isStopped) return;
      if (isDone) this.#backoff.reset();
      else this.#items.push(item);
    }
    this.#isCalling = false;
    this.#plan();
  }
}
