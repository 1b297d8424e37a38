import { StoreUnavailableError, type Store } from '@deedwire/store';
import type { BacklogEvent, Reports, WritesForWorker } from '../events.ts';
import { FencedOutError } from '../fence/fence.ts';
import { Backoff, type Clock } from '../kernel/clock.ts';
import { type DeliveryId, type SubscriptionId, type LaneId, type Shard, shardOf } from '../kernel/ids.ts';
import {
  deleteDeletedBacklog,
  deletePendingOfDeleted,
  insertDeletedBacklog,
  selectDeletedBacklogs,
  selectPendingOfDeleted,
} from './deleted-backlogs.ts';
import { type DeletedPosition, forgetSubscriptions, selectForgettable } from './forgotten-subscriptions.ts';

export interface BacklogRemoverOptions extends Reports<BacklogEvent>, WritesForWorker {
  store: Store;
  clock: Pick<Clock, 'setTimer'>;
  /** Erases what attempts of the subscription sent and received. */
  eraserOf: (id: SubscriptionId) => StepwiseWork;
}

/** Work in batches. */
export interface StepwiseWork {
  /** Does a batch. Returns false once nothing is left. */
  step(): Promise<boolean>;
}

/** Deliveries per statement. Small, so that no lock is held for long. */
const batchSize = 1_000;

/** Subscriptions per statement, which deletes up to five rows of each. */
const walkBatchSize = 100;

/** How often the subscriptions are looked for whose deliveries have been dropped. Retention drops them once a day. */
const walkEveryMs = 3_600_000;

/** The pause between two batches. Leaves the database to deliveries that somebody waits for. */
const pauseMs = 10;

/** How long to wait for transactions that hold deliveries. */
const lockedMs = 1_000;

/** A shard whose deleted subscriptions are looked through, after a position. */
interface Walk {
  readonly shard: Shard;
  readonly after: DeletedPosition | null;
}

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
 *
 * Then it deletes the subscription itself, unless it had a delivery. Those that had one follow when their deliveries have been
 * dropped: every hour, it looks for them.
 */
export class BacklogRemover {
  readonly #options: BacklogRemoverOptions;
  readonly #backlogs = new Map<SubscriptionId, Backlog>();
  /** Acquired shards whose notes were not read yet. */
  readonly #unread = new Set<Shard>();
  /** By owned shard: where the walk over its deleted subscriptions continues. Null until the next one. */
  readonly #walks = new Map<Shard, Walk | null>();
  #isWalkingHourly = false;
  /** The last batch was one of a walk. */
  #hasWalked = false;
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
    this.#walks.set(shard, { shard, after: null });
    if (!this.#isWalkingHourly) this.#walkHourly();
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
    this.#walks.delete(shard);
    for (const { lane } of this.#backlogs.values()) {
      if (shardOf(lane.accountId) === shard) this.#backlogs.delete(lane.subscriptionId);
    }
    await this.#step;
  }

  /** The worker has lost its shards. From now on, its statements write nothing. */
  removeAllShards(): void {
    this.#unread.clear();
    this.#walks.clear();
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

  #walkHourly(): void {
    this.#isWalkingHourly = true;
    this.#setTimer(() => {
      for (const shard of this.#walks.keys()) this.#walks.set(shard, { shard, after: null });
      this.#walkHourly();
      this.#next();
    }, walkEveryMs);
  }

  /** Walks and backlogs take turns. */
  #nextWork(): Shard | Walk | Backlog | null {
    for (const shard of this.#unread) return shard;
    const walk = [...this.#walks.values()].find((each) => each !== null);
    const backlog = [...this.#backlogs.values()].find(({ isWaiting }) => !isWaiting);
    return (this.#hasWalked ? (backlog ?? walk) : (walk ?? backlog)) ?? null;
  }

  async #run(work: Shard | Walk | Backlog): Promise<void> {
    const shard = typeof work === 'number' ? work : 'lane' in work ? shardOf(work.lane.accountId) : work.shard;
    try {
      if (typeof work === 'number') await this.#readShard(work);
      else if ('lane' in work) await this.#removeBatch(work);
      else await this.#walk(work);
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

  #forget(work: Shard | Walk | Backlog): void {
    if (typeof work === 'number') this.#unread.delete(work);
    else if ('lane' in work) this.#backlogs.delete(work.lane.subscriptionId);
    else if (this.#walks.has(work.shard)) this.#walks.set(work.shard, null);
  }

  async #readShard(shard: Shard): Promise<void> {
    const lanes = await selectDeletedBacklogs(this.#options.store, shard);
    // It may have been released meanwhile.
    if (this.#unread.delete(shard)) for (const lane of lanes) this.#add(lane);
  }

  async #walk({ shard, after }: Walk): Promise<void> {
    const { store, workerId } = this.#options;
    this.#hasWalked = true;
    const page = await selectForgettable(store, shard, after, walkBatchSize);
    if (page.length > 0) {
      const ids = page.map(({ id }) => id);
      await forgetSubscriptions(store, workerId(), ids, { withDeliveries: true });
    }
    const last = page[walkBatchSize - 1];
    // The shard may have been released meanwhile.
    if (this.#walks.has(shard)) this.#walks.set(shard, last === undefined ? null : { shard, after: last });
  }

  async #removeBatch(backlog: Backlog): Promise<void> {
    const { store, workerId, onEvent } = this.#options;
    this.#hasWalked = false;
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
      // Before the note, so that the next owner of the shard repeats it.
      await forgetSubscriptions(store, workerId(), [subscriptionId], { withDeliveries: false });
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
