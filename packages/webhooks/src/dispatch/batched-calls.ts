import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { Backoff, type Clock, Pauses } from '../kernel/clock.ts';

export interface BatchedCallsOptions<Item, Result> {
  clock: Pick<Clock, 'setTimer'>;
  /** How long items are collected before a call. */
  collectMs: number;
  itemsMax: number;
  call: (items: readonly Item[]) => Promise<Result>;
  /** Whether another transaction has locked a row of the item, so that nothing was done for it. Omitted if calls skip nothing. */
  isLocked?: (item: Item, result: Result) => boolean;
  onDone: (items: readonly Item[], result: Result) => void;
  /** The call was refused because of this item. */
  onRefused: (item: Item, error: unknown) => void;
  /** Another transaction has locked a row of this item. It is repeated, and other items overtake it. Called once. */
  onLocked: (item: Item, error: unknown) => void;
  /** Storage is unavailable. The call is repeated. */
  onUnavailable: (error: unknown) => void;
  /** A call has succeeded after storage was unavailable. */
  onResumed: () => void;
}

/** How long an urgent item is collected with others. */
const urgentMs = 1;

/**
 * Collects items and passes them to a call in batches, one call at a time, in the order in which they were added.
 *
 * - The call succeeds: `onDone`, except for locked items. They are repeated with growing delays, beside the other calls.
 * - Storage is unavailable: the call is repeated with the same batch, with backoff.
 * - The batch is refused, or waits for a lock in vain: it is bisected, about 2 · log2(n) calls for one bad item. A refused item
 *   is reported and dropped.
 */
export class BatchedCalls<Item, Result> {
  readonly #options: BatchedCallsOptions<Item, Result>;
  readonly #backoff = new Backoff();
  readonly #lockedBackoff = new Backoff();
  readonly #pauses: Pauses;
  readonly #locked = new Set<Item>();
  #collected: Item[] = [];
  #isCalling = false;
  #isStopped = false;
  #isRepeating = false;
  #isUrgent = false;
  #cancelTimer: (() => void) | null = null;

  constructor(options: BatchedCallsOptions<Item, Result>) {
    this.#options = options;
    this.#pauses = new Pauses(options.clock);
  }

  get isCalling(): boolean {
    return this.#isCalling;
  }

  /** @param isUrgent whether something waits for this item, so that it is collected with what arrives within a millisecond only */
  add(item: Item, isUrgent = false): void {
    this.#collected.push(item);
    if (isUrgent && !this.#isUrgent) {
      this.#isUrgent = true;
      if (!this.#isCalling) this.#cancelPlan();
    }
    this.#plan();
  }

  /** Drops the collected items. Makes no further call. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelPlan();
    this.#collected = [];
    this.#locked.clear();
    this.#pauses.stop();
  }

  #plan(): void {
    if (this.#isCalling || this.#isStopped || this.#cancelTimer !== null || this.#collected.length === 0) return;
    const delayMs = this.#isUrgent ? Math.min(urgentMs, this.#options.collectMs) : this.#options.collectMs;
    this.#cancelTimer = this.#options.clock.setTimer(() => void this.#callWithCollected(), delayMs);
  }

  #cancelPlan(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  async #callWithCollected(): Promise<void> {
    this.#cancelTimer = null;
    this.#isCalling = true;
    this.#isUrgent = false;
    const batch = this.#collected;
    this.#collected = batch.length > this.#options.itemsMax ? batch.splice(this.#options.itemsMax) : [];
    await this.#call(batch);
    this.#isCalling = false;
    this.#plan();
  }

  async #call(batch: readonly Item[]): Promise<void> {
    const { call, onUnavailable, onResumed } = this.#options;
    while (!this.#isStopped) {
      const outcome = await call(batch).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      if (this.#isStopped) return;
      if ('result' in outcome) {
        if (this.#backoff.reset()) onResumed();
        return this.#done(batch, outcome.result);
      }
      const { error } = outcome;
      if (!(error instanceof StoreUnavailableError) || error instanceof LockTimeoutError)
        return this.#failed(batch, error);
      onUnavailable(error);
      await this.#pauses.wait(this.#backoff.next());
    }
  }

  #done(batch: readonly Item[], result: Result): void {
    const { isLocked = () => false, onDone } = this.#options;
    const [done, locked]: [Item[], Item[]] = [[], []];
    for (const item of batch) (isLocked(item, result) ? locked : done).push(item);
    for (const item of done) if (this.#locked.delete(item)) this.#lockedBackoff.reset();
    if (done.length > 0) onDone(done, result);
    for (const item of locked) this.#lockFound(item, new Error('Another transaction has locked the row.'));
  }

  async #failed(batch: readonly Item[], error: unknown): Promise<void> {
    const [item] = batch;
    const middle = batch.length >> 1;
    if (middle > 0) {
      await this.#call(batch.slice(0, middle));
      await this.#call(batch.slice(middle));
    } else if (item !== undefined && error instanceof LockTimeoutError) this.#lockFound(item, error);
    else if (item !== undefined) {
      if (this.#locked.delete(item)) this.#lockedBackoff.reset();
      this.#options.onRefused(item, error);
    }
  }

  #lockFound(item: Item, error: unknown): void {
    if (!this.#locked.has(item)) this.#options.onLocked(item, error);
    this.#locked.add(item);
    if (!this.#isRepeating) void this.#repeatLocked();
  }

  async #repeatLocked(): Promise<void> {
    this.#isRepeating = true;
    const { isLocked, itemsMax } = this.#options;
    // A call that skips nothing would wait for each of the locks.
    const size = isLocked === undefined ? 1 : itemsMax;
    while (this.#locked.size > 0 && (await this.#pauses.wait(this.#lockedBackoff.next()))) {
      const items = [...this.#locked];
      for (let start = 0; start < items.length; start += size) await this.#call(items.slice(start, start + size));
    }
    this.#isRepeating = false;
  }
}
