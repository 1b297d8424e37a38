import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { Backoff } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';

export interface BatchedCallsOptions<Item, Result> {
  clock: Pick<Clock, 'setTimer'>;
  /** How long items are collected before a call. */
  collectMs: number;
  itemsMax: number;
  call: (items: readonly Item[]) => Promise<Result>;
  /** The same without waiting for locks: `locked` lists the items for which nothing was done. */
  callUnlocked?: (items: readonly Item[]) => Promise<{ result: Result; locked: ReadonlySet<Item> }>;
  onDone: (items: readonly Item[], result: Result) => void;
  /** The call was refused because of this item. */
  onRefused: (item: Item, error: unknown) => void;
  /**
   * Another transaction has locked a row of this item. The call is repeated for such items only, and other items overtake
   * them.
   */
  onLocked: (item: Item, error: unknown) => void;
  /** Storage is unavailable. The call is repeated. */
  onUnavailable: (error: unknown) => void;
  /** A call has succeeded after storage was unavailable. */
  onResumed: () => void;
}

/** How long an urgent item is collected with others. */
const urgentMs = 1;

/**
 * What the error of a call to storage means:
 *
 * - `unavailable`: the same call can succeed later
 * - `locked`: another transaction holds a lock on a row of the call
 * - `refused`: storage refuses an item of the call
 */
type CallFailure = 'unavailable' | 'locked' | 'refused';

interface Done<Item, Result> {
  kind: 'done';
  result: Result;
  locked: ReadonlySet<Item>;
}

type CallOutcome<Item, Result> = Done<Item, Result> | { kind: CallFailure; error: unknown };

/**
 * Collects items and passes them to a call in batches, one call at a time, in the order in which they were added.
 *
 * - The call succeeds: `onDone`.
 * - Storage is unavailable: the call is repeated with the same batch, with backoff.
 * - A row is locked: `callUnlocked` is made with the batch, if there is one, and in place of further calls until no item is
 *   locked. A locked item is retried until it succeeds.
 * - Storage refuses the batch, or its locked items are unknown: the batch is bisected, about 2 · log2(n) calls for one bad
 *   item. A refused item is reported and dropped.
 */
export class BatchedCalls<Item, Result> {
  readonly #options: BatchedCallsOptions<Item, Result>;
  readonly #backoff = new Backoff();
  readonly #lockedBackoff = new Backoff();
  #collected: Item[] = [];
  /** Repeated while calls with other items continue. */
  #locked: Item[] = [];
  #isCalling = false;
  #isStopped = false;
  #isRepeating = false;
  #isUrgent = false;
  #cancelTimer: (() => void) | null = null;
  #cancelLockedTimer: (() => void) | null = null;
  readonly #cancelWaits = new Set<() => void>();

  constructor(options: BatchedCallsOptions<Item, Result>) {
    this.#options = options;
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
    this.#cancelTimer?.();
    this.#cancelLockedTimer?.();
    for (const cancel of this.#cancelWaits) cancel();
    this.#collected = [];
    this.#locked = [];
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
    await this.#callAndSplit(batch);
    this.#isCalling = false;
    this.#plan();
  }

  async #callAndSplit(batch: readonly Item[]): Promise<void> {
    if (this.#isStopped) return;
    const [item] = batch;
    const knowsLock = this.#locked.length > 0 || this.#isRepeating;
    let outcome = await this.#callUntilAvailable(batch, knowsLock);
    const maySkip = this.#options.callUnlocked !== undefined && !knowsLock && batch.length > 1;
    if (outcome.kind === 'locked' && maySkip && !this.#isStopped) outcome = await this.#callUntilAvailable(batch, true);
    if (this.#isStopped) return;
    if (outcome.kind === 'done') this.#done(batch, outcome);
    else if (batch.length > 1 || item === undefined) await this.#callHalves(batch);
    else if (outcome.kind === 'locked') this.#lockFound(item, outcome.error);
    else this.#options.onRefused(item, outcome.error);
  }

  async #callHalves(batch: readonly Item[]): Promise<void> {
    const middle = batch.length >> 1;
    await this.#callAndSplit(batch.slice(0, middle));
    await this.#callAndSplit(batch.slice(middle));
  }

  #done(batch: readonly Item[], { result, locked }: Done<Item, Result>): void {
    const done = locked.size === 0 ? batch : batch.filter((item) => !locked.has(item));
    if (done.length > 0) this.#options.onDone(done, result);
    for (const item of locked) this.#lockFound(item, new Error('Another transaction has locked the row.'));
  }

  #lockFound(item: Item, error: unknown): void {
    this.#options.onLocked(item, error);
    this.#locked.push(item);
    this.#planLocked();
  }

  async #callUntilAvailable(batch: readonly Item[], skipsLocked: boolean): Promise<CallOutcome<Item, Result>> {
    for (;;) {
      const outcome = await this.#callOnce(batch, skipsLocked);
      if (this.#isStopped || outcome.kind !== 'unavailable') return outcome;
      this.#options.onUnavailable(outcome.error);
      await this.#wait(this.#backoff.next());
    }
  }

  async #callOnce(batch: readonly Item[], skipsLocked: boolean): Promise<CallOutcome<Item, Result>> {
    const { call, callUnlocked } = this.#options;
    try {
      const done =
        skipsLocked && callUnlocked !== undefined
          ? await callUnlocked(batch)
          : { result: await call(batch), locked: new Set<Item>() };
      if (this.#backoff.reset()) this.#options.onResumed();
      return { kind: 'done', ...done };
    } catch (error) {
      return { kind: callFailure(error), error };
    }
  }

  #planLocked(): void {
    if (this.#isRepeating || this.#cancelLockedTimer !== null || this.#locked.length === 0) return;
    const { clock } = this.#options;
    this.#cancelLockedTimer = clock.setTimer(() => void this.#repeatLocked(), this.#lockedBackoff.next());
  }

  /** With all locked items if the call can skip them, otherwise one after the other. */
  async #repeatLocked(): Promise<void> {
    this.#cancelLockedTimer = null;
    this.#isRepeating = true;
    const items = this.#locked;
    this.#locked = [];
    const batches =
      this.#options.callUnlocked === undefined ? items.map((item) => [item]) : batchesOf(items, this.#options.itemsMax);
    for (const batch of batches) {
      const outcome = await this.#callOnce(batch, true);
      if (this.#isStopped) return;
      if (outcome.kind === 'done') this.#repeated(batch, outcome);
      else if (outcome.kind === 'refused' && batch.length > 1) await this.#callHalves(batch);
      else if (outcome.kind === 'refused') {
        this.#lockedBackoff.reset();
        for (const item of batch) this.#options.onRefused(item, outcome.error);
      } else this.#locked.push(...batch);
    }
    this.#isRepeating = false;
    this.#planLocked();
  }

  #repeated(batch: readonly Item[], { result, locked }: Done<Item, Result>): void {
    const done = batch.filter((item) => !locked.has(item));
    this.#locked.push(...locked);
    if (done.length === 0) return;
    this.#lockedBackoff.reset();
    this.#options.onDone(done, result);
  }

  /** A call and the repetition of locked items may wait at the same time. */
  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.setTimer(() => {
        this.#cancelWaits.delete(cancel);
        resolve();
      }, delayMs);
      this.#cancelWaits.add(cancel);
    });
  }
}

function callFailure(error: unknown): CallFailure {
  if (error instanceof LockTimeoutError) return 'locked';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'refused';
}

function batchesOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
