import { StoreUnavailableError, type Store } from '@deedwire/store';
import { FencedOutError } from '../fence/fenced-out-error.ts';
import type { WorkerId } from '../fence/worker-id.ts';
import { Backoff } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import type { LaneId } from '../kernel/lane-id.ts';
import { type Shard, shardOf } from '../kernel/shard.ts';
import {
  deleteDeletedBacklog,
  deletePendingOfDeleted,
  insertDeletedBacklog,
  selectDeletedBacklogs,
  selectPendingOfDeleted,
} from './deleted-backlogs.ts';

export type BacklogEvent =
  /** Everything of a deleted subscription was removed. `deliveries` were removed by this worker. */
  | { readonly kind: 'backlog-removed'; readonly subscription: SubscriptionId; readonly deliveries: number }
  /** A statement failed. It is retried after a delay. */
  | { readonly kind: 'backlog-unavailable'; readonly error: unknown }
  /** A statement has succeeded after one had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'backlog' }
  /** The database refused a statement. The next owner of the shard tries again. */
  | { readonly kind: 'backlog-failed'; readonly alarm: true; readonly shard: Shard; readonly error: unknown };

export interface BacklogRemoverOptions {
  store: Store;
  clock: Pick<Clock, 'setTimer'>;
  workerId: () => WorkerId;
  /** Erases what attempts of the subscription sent and received. */
  eraserOf: (id: SubscriptionId) => StepwiseWork;
  onFenced: () => void;
  onEvent: (event: BacklogEvent) => void;
}

/** Work in batches. */
export interface StepwiseWork {
  /** Does a batch. Returns false once nothing is left. */
  step(): Promise<boolean>;
}

/** Deliveries per statement. Small, so that no lock is held for long. */
const batchSize = 1_000;

/** The pause between two batches. Leaves the database to deliveries that somebody waits for. */
const pauseMs = 10;

/** How long to wait for transactions that hold deliveries. */
const lockedMs = 1_000;

interface Backlog {
  readonly lane: LaneId;
  /** Everything up to this delivery is deleted or in `skipped`. Null at the start. */
  after: DeliveryId | null;
  isReadToTheEnd: boolean;
  /** Deliveries that another transaction held. */
  skipped: DeliveryId[];
  isWaiting: boolean;
  deliveries: number;
  readonly exchanges: StepwiseWork;
}

/**
 * Removes what deleted subscriptions leave: their pending deliveries, what attempts sent and received, and the state of their
 * receivers. Runs in the background, one batch at a time, and a batch of each backlog in turn. A table notes the backlogs, so the
 * next owner of the shard continues.
 */
export class BacklogRemover {
  readonly #options: BacklogRemoverOptions;
  readonly #backlogs = new Map<SubscriptionId, Backlog>();
  /** Acquired shards whose notes were not read yet. */
  readonly #unread = new Set<Shard>();
  readonly #backoff = new Backoff();
  readonly #cancelTimers = new Set<() => void>();
  #step: Promise<void> | null = null;
  #isPausing = false;
  #isStopped = false;

  constructor(options: BacklogRemoverOptions) {
    this.#options = options;
  }

  /** Continues what the last owner of an acquired shard has left. */
  addShard(shard: Shard): void {
    this.#unread.add(shard);
    this.#next();
  }

  /**
   * Resolves once the backlog is noted. It is then removed, by this worker or by the next owner of the shard.
   *
   * @param writers resolves once nothing that this process began before can add to the backlog
   */
  async remove(lane: LaneId, writers: Promise<void>): Promise<void> {
    const { store, workerId } = this.#options;
    await insertDeletedBacklog(store, workerId(), lane);
    const backlog = this.#add(lane);
    if (backlog !== null) void this.#beginAfter(writers, backlog);
  }

  async #beginAfter(writers: Promise<void>, backlog: Backlog): Promise<void> {
    backlog.isWaiting = true;
    await writers;
    backlog.isWaiting = false;
    this.#next();
  }

  /** Stops work on the shard. Resolves once no statement for it is in progress. */
  async removeShard(shard: Shard): Promise<void> {
    this.#unread.delete(shard);
    for (const { lane } of this.#backlogs.values()) {
      if (shardOf(lane.accountId) === shard) this.#backlogs.delete(lane.subscriptionId);
    }
    await this.#step;
  }

  /** The worker has lost its shards. From now on, its statements write nothing. */
  removeAllShards(): void {
    this.#unread.clear();
    this.#backlogs.clear();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#cancelTimers) cancel();
    await this.#step;
  }

  /** Null if the backlog is being removed already. */
  #add(lane: LaneId): Backlog | null {
    if (this.#backlogs.has(lane.subscriptionId)) return null;
    const exchanges = this.#options.eraserOf(lane.subscriptionId);
    const start = { after: null, isReadToTheEnd: false, skipped: [], isWaiting: false, deliveries: 0, exchanges };
    const backlog: Backlog = { lane, ...start };
    this.#backlogs.set(lane.subscriptionId, backlog);
    return backlog;
  }

  #next(): void {
    if (this.#isStopped || this.#isPausing || this.#step !== null) return;
    const work = this.#nextWork();
    if (work === null) return;
    this.#step = this.#run(work).finally(() => {
      this.#step = null;
      this.#next();
    });
  }

  #nextWork(): Shard | Backlog | null {
    for (const shard of this.#unread) return shard;
    for (const backlog of this.#backlogs.values()) if (!backlog.isWaiting) return backlog;
    return null;
  }

  async #run(work: Shard | Backlog): Promise<void> {
    const shard = typeof work === 'number' ? work : shardOf(work.lane.accountId);
    try {
      if (typeof work === 'number') await this.#readShard(work);
      else await this.#removeBatch(work);
      if (this.#backoff.reset()) this.#options.onEvent({ kind: 'loop-resumed', loop: 'backlog' });
      this.#pause(pauseMs);
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        this.#options.onEvent({ kind: 'backlog-unavailable', error });
        this.#pause(this.#backoff.next());
        return;
      }
      this.#forget(work);
      if (error instanceof FencedOutError) this.#options.onFenced();
      else this.#options.onEvent({ kind: 'backlog-failed', alarm: true, shard, error });
    }
  }

  #forget(work: Shard | Backlog): void {
    if (typeof work === 'number') this.#unread.delete(work);
    else this.#backlogs.delete(work.lane.subscriptionId);
  }

  async #readShard(shard: Shard): Promise<void> {
    const lanes = await selectDeletedBacklogs(this.#options.store, shard);
    // It may have been released meanwhile.
    if (this.#unread.delete(shard)) for (const lane of lanes) this.#add(lane);
  }

  async #removeBatch(backlog: Backlog): Promise<void> {
    const { store, workerId, onEvent } = this.#options;
    const { lane } = backlog;
    const { subscriptionId } = lane;
    if (!backlog.isReadToTheEnd) {
      const page = await selectPendingOfDeleted(store, subscriptionId, backlog.after, batchSize);
      const skipped = page.length === 0 ? [] : await this.#delete(backlog, page);
      backlog.skipped.push(...skipped);
      backlog.after = page.at(-1) ?? backlog.after;
      backlog.isReadToTheEnd = page.length < batchSize;
    } else if (backlog.skipped.length > 0) {
      const batch = backlog.skipped.slice(0, batchSize);
      const skipped = await this.#delete(backlog, batch);
      backlog.skipped = [...backlog.skipped.slice(batch.length), ...skipped];
      if (skipped.length > 0) this.#wait(backlog);
    }
    if (backlog.isReadToTheEnd && backlog.skipped.length === 0 && !(await backlog.exchanges.step())) {
      await deleteDeletedBacklog(store, workerId(), lane);
      this.#backlogs.delete(subscriptionId);
      onEvent({ kind: 'backlog-removed', subscription: subscriptionId, deliveries: backlog.deliveries });
    } else if (this.#backlogs.delete(subscriptionId)) this.#backlogs.set(subscriptionId, backlog);
  }

  /** @returns the deliveries that another transaction holds */
  async #delete(backlog: Backlog, deliveries: readonly DeliveryId[]): Promise<DeliveryId[]> {
    const { store, workerId } = this.#options;
    const skipped = await deletePendingOfDeleted(store, workerId(), backlog.lane.subscriptionId, deliveries);
    backlog.deliveries += deliveries.length - skipped.length;
    return skipped;
  }

  #wait(backlog: Backlog): void {
    backlog.isWaiting = true;
    this.#setTimer(() => {
      backlog.isWaiting = false;
      this.#next();
    }, lockedMs);
  }

  #pause(delayMs: number): void {
    this.#isPausing = true;
    this.#setTimer(() => {
      this.#isPausing = false;
      this.#next();
    }, delayMs);
  }

  #setTimer(callback: () => void, delayMs: number): void {
    if (this.#isStopped) return;
    const cancel = this.#options.clock.setTimer(() => {
      this.#cancelTimers.delete(cancel);
      callback();
    }, delayMs);
    this.#cancelTimers.add(cancel);
  }
}
