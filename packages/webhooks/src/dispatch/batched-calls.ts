import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { Backoff } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';

export interface BatchedCallsOptions<Item, Result> {
  clock: Pick<Clock, 'setTimer'>;
  /** How long items are collected before a call. */
  collectMs: number;
  itemsMax: number;
  call: (items: readonly Item[]) => Promise<Result>;
  onDone: (items: readonly Item[], result: Result) => void;
  /** The call was refused because of this item. */
  onRefused: (item: Item, error: unknown) => void;
  /**
   * Another transaction has locked a row of this item. The call is repeated for this item only, and other items
   * overtake it.
   */
  onLocked: (item: Item, error: unknown) => void;
  /** Storage is unavailable. The call is repeated. */
  onUnavailable: (error: unknown) => void;
}

/**
 * What the error of a call to storage means:
 *
 * - `unavailable`: the same call can succeed later
 * - `locked`: another transaction holds a lock on a row of the call
 * - `refused`: storage refuses an item of the call
 */
type CallFailure = 'unavailable' | 'locked' | 'refused';

type CallOutcome<Result> = { kind: 'done'; result: Result } | { kind: CallFailure; error: unknown };

/**
 * Collects items and passes them to a call in batches, one call at a time, in the order in which they were added.
 *
 * - The call succeeds: `onDone`.
 * - Storage is unavailable: the call is repeated with the same batch, with backoff.
 * - Storage refuses the batch, or a row is locked: the batch is bisected, about 2 · log2(n) calls for one bad item. A
 *   refused item is reported and dropped. A locked item is retried until it succeeds.
 */
export class BatchedCalls<Item, Result> {
  readonly #options: BatchedCallsOptions<Item, Result>;
  readonly #backoff = new Backoff();
  readonly #lockedBackoff = new Backoff();
  #collected: Item[] = [];
  /** Repeated one at a time, while calls with other items continue. */
  #locked: Item[] = [];
  #isCalling = false;
  #isStopped = false;
  #isRepeating = false;
  #cancelTimer: (() => void) | null = null;
  #cancelLockedTimer: (() => void) | null = null;

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

  /** Drops the collected items. Makes no further call. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelLockedTimer?.();
    this.#collected = [];
    this.#locked = [];
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
    await this.#callAndSplit(batch);
    this.#isCalling = false;
    this.#plan();
  }

  async #callAndSplit(batch: readonly Item[]): Promise<void> {
    if (this.#isStopped) return;
    const outcome = await this.#callUntilAvailable(batch);
    if (this.#isStopped) return;
    const [item] = batch;
    if (outcome.kind === 'done') this.#options.onDone(batch, outcome.result);
    else if (batch.length > 1 || item === undefined) {
      const middle = batch.length >> 1;
      await this.#callAndSplit(batch.slice(0, middle));
      await this.#callAndSplit(batch.slice(middle));
    } else if (outcome.kind === 'locked') {
      this.#options.onLocked(item, outcome.error);
      this.#locked.push(item);
      this.#planLocked();
    } else this.#options.onRefused(item, outcome.error);
  }

  async #callUntilAvailable(batch: readonly Item[]): Promise<CallOutcome<Result>> {
    for (;;) {
      const outcome = await this.#callOnce(batch);
      if (this.#isStopped || outcome.kind !== 'unavailable') return outcome;
      this.#options.onUnavailable(outcome.error);
      await this.#wait(this.#backoff.next());
    }
  }

  async #callOnce(batch: readonly Item[]): Promise<CallOutcome<Result>> {
    try {
      const result = await this.#options.call(batch);
      this.#backoff.reset();
      return { kind: 'done', result };
    } catch (error) {
      return { kind: callFailure(error), error };
    }
  }

  #planLocked(): void {
    if (this.#isRepeating || this.#cancelLockedTimer !== null || this.#locked.length === 0) return;
    const { clock } = this.#options;
    this.#cancelLockedTimer = clock.setTimer(() => void this.#repeatLocked(), this.#lockedBackoff.next());
  }

  async #repeatLocked(): Promise<void> {
    this.#cancelLockedTimer = null;
    this.#isRepeating = true;
    const items = this.#locked;
    this.#locked = [];
    for (const item of items) {
      const outcome = await this.#callOnce([item]);
      if (this.#isStopped) return;
      if (outcome.kind === 'done') this.#options.onDone([item], outcome.result);
      else if (outcome.kind === 'refused') this.#options.onRefused(item, outcome.error);
      if (outcome.kind === 'done' || outcome.kind === 'refused') this.#lockedBackoff.reset();
      else this.#locked.push(item);
    }
    this.#isRepeating = false;
    this.#planLocked();
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

function callFailure(error: unknown): CallFailure {
  if (error instanceof LockTimeoutError) return 'locked';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'refused';
}
