import { StoreUnavailableError } from '@deedwire/store';
import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';

export interface BatchedCallsOptions<Item, Result> {
  clock: Pick<Clock, 'setTimer'>;
  /** How long items are collected before a call. */
  collectMs: number;
  itemsMax: number;
  call: (items: readonly Item[]) => Promise<Result>;
  onDone: (items: readonly Item[], result: Result) => void;
  /** The call was refused because of this item. */
  onRefused: (item: Item, error: unknown) => void;
  /** The call will be repeated. */
  onUnavailable: (error: unknown) => void;
}

/**
 * Collects items and passes them to a call in batches, one call at a time, in the order in which they were added.
 *
 * While storage is unavailable, the batch is kept and the call is repeated. A batch that is refused is split in halves until
 * the refused items stand alone, so that one item costs about 2 · log2(n) calls and delays the others only for that time.
 */
export class BatchedCalls<Item, Result> {
  readonly #options: BatchedCallsOptions<Item, Result>;
  readonly #backoff = new Backoff();
  #collected: Item[] = [];
  #isCalling = false;
  #isStopped = false;
  #cancelTimer: (() => void) | null = null;

  constructor(options: BatchedCallsOptions<Item, Result>) {
    this.#options = options;
  }

  get isCalling(): boolean {
    return this.#isCalling;
  }

  add(item: Item): void {
    this.#collected.push(item);
    this.#plan();
  }

  /** Forgets what is collected and makes no further call. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#collected = [];
  }

  #plan(): void {
    if (this.#isCalling || this.#isStopped || this.#cancelTimer !== null || this.#collected.length === 0) return;
    this.#cancelTimer = this.#options.clock.setTimer(() => void this.#callWithCollected(), this.#options.collectMs);
  }

  async #callWithCollected(): Promise<void> {
    this.#cancelTimer = null;
    this.#isCalling = true;
    const batch = this.#collected;
    this.#collected = batch.length > this.#options.itemsMax ? batch.splice(this.#options.itemsMax) : [];
    await this.#call(batch);
    this.#isCalling = false;
    this.#plan();
  }

  async #call(batch: readonly Item[]): Promise<void> {
    const result = await this.#callUntilAvailable(batch);
    if (this.#isStopped) return;
    if ('result' in result) return this.#options.onDone(batch, result.result);
    const [item] = batch;
    if (batch.length === 1 && item !== undefined) return this.#options.onRefused(item, result.refusal);
    const middle = batch.length >> 1;
    await this.#call(batch.slice(0, middle));
    await this.#call(batch.slice(middle));
  }

  async #callUntilAvailable(batch: readonly Item[]): Promise<{ result: Result } | { refusal: unknown }> {
    for (;;) {
      try {
        const result = await this.#options.call(batch);
        this.#backoff.reset();
        return { result };
      } catch (error) {
        if (this.#isStopped || !(error instanceof StoreUnavailableError)) return { refusal: error };
        this.#options.onUnavailable(error);
        await this.#wait(this.#backoff.next());
      }
    }
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#cancelTimer = this.#options.clock.setTimer(() => {
        this.#cancelTimer = null;
        resolve();
      }, delayMs);
    });
  }
}
