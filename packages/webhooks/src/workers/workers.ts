import { StoreUnavailableError, type Store } from '@deedwire/store';
import { FencedOutError, type WorkerId } from '../fence/fence.ts';
import { Backoff, type Clock } from '../kernel/clock.ts';
import type { Shard } from '../kernel/ids.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { ShardSharing, type ShardSharingOptions } from './shard-sharing.ts';
import { deleteDeadWorkers, deleteWorker, insertWorker } from './sql/worker-rows.ts';

export interface WorkersOptions extends ShardSharingOptions {
  /**
   * A separate store with two connections, so that no other statement delays a renewal. The second one is for the 10 s in
   * which a half-open connection does not respond.
   */
  renewalStore: Store;
  clock: Pick<Clock, 'setTimer'>;
  /** Host and process id, for operators. */
  name: string;
  leaseMs: number;
  /** Whether the process sends mails to contact addresses. */
  sendsMail: boolean;
  /** Defaults to a third of the lease. */
  renewMs?: number;
  /** While it returns true, the worker does not renew its lease, so that another worker takes over. */
  isStalled: () => boolean;
  /**
   * This worker was declared dead: it owns nothing, and everything in memory is outdated. It registers again when the
   * promise resolves.
   */
  onLost: () => Promise<void>;
}

/** One registration of this process. */
interface Registration {
  readonly id: WorkerId;
  readonly lease: LeaseKeeper;
  readonly sharing: ShardSharing;
  isDead: boolean;
  /** `onLost` was called. */
  isForgotten: boolean;
}

/**
 * Registers this process as a worker, renews its lease and keeps its share of the shards.
 *
 *     const workers = new Workers({ store, renewalStore, clock, name, leaseMs: 15_000, isStalled, …callbacks });
 *     await workers.start(); // registers; shards arrive through `onAcquired`
 *     workers.wake(); // for each notification that workers or shards have changed
 *     await workers.leave(); // releases the shards; results can still be recorded
 *     await workers.stop(); // removes the worker
 *
 * Runs one pass of `ShardSharing` at a time: when it is woken, when a lease of another worker expires, and at least once in
 * `renewMs`. The lease is renewed independently.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #renewMs: number;
  readonly #backoff = new Backoff();
  #registration: Registration | null = null;
  #isLeaving = false;
  #isStopped = false;
  #isWoken = false;
  #starting: Promise<void> | null = null;
  #running: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#renewMs = options.renewMs ?? options.leaseMs / 3;
  }

  /** Changes when the worker registers again after it was declared dead. Throws before `start` has resolved. */
  get id(): WorkerId {
    if (this.#registration === null) throw new Error('The worker is not registered yet.');
    return this.#registration.id;
  }

  get shards(): ReadonlySet<Shard> {
    return this.#registration?.sharing.shards ?? new Set();
  }

  /** Registers the worker, and retries while the database is unavailable. Acquires shards in the background. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Call it when workers or shards have changed. Otherwise the worker notices within `renewMs`. */
  wake(): void {
    this.#isWoken = true;
    if (this.#registration !== null && !this.#isStopped) this.#running ??= this.#run();
  }

  /** Call it after a fenced statement matched no live worker. */
  fencedOut(): void {
    this.wake();
  }

  /** Releases all shards and acquires no more. Results of requests in flight can still be recorded until `stop`. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#starting?.catch(() => {});
    this.wake();
    await this.#running;
  }

  /**
   * Leaves and removes the worker. If shards could not be released, another worker takes them over when the lease expires.
   */
  async stop(): Promise<void> {
    await this.leave();
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#running;
    if (this.#registration === null) return;
    await this.#registration.lease.stop();
    try {
      await deleteWorker(this.#options.store, this.#registration.id);
    } catch (error) {
      this.#options.onEvent({ kind: 'sharing-failed', error });
    }
  }

  async #start(): Promise<void> {
    const backoff = new Backoff();
    while (!this.#isLeaving) {
      try {
        await this.#register();
        if (backoff.reset()) this.#options.onEvent({ kind: 'loop-resumed', loop: 'sharing' });
        this.wake();
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        this.#options.onEvent({ kind: 'sharing-failed', error });
        await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, backoff.next()));
      }
    }
  }

  async #run(): Promise<void> {
    let nextPassInMs = 0;
    this.#cancelTimer?.();
    while (this.#isWoken && !this.#isStopped) {
      this.#isWoken = false;
      nextPassInMs = await this.#pass();
    }
    this.#running = null;
    if (!this.#isStopped) this.#cancelTimer = this.#options.clock.setTimer(() => this.wake(), nextPassInMs);
  }

  /** @returns after how many milliseconds the next pass is due */
  async #pass(): Promise<number> {
    try {
      if (this.#registration?.isDead === true) await this.#startAgain(this.#registration);
      const expiryMs = await this.#registration?.sharing.pass(this.#isLeaving);
      if (this.#backoff.reset()) this.#options.onEvent({ kind: 'loop-resumed', loop: 'sharing' });
      return Math.min(this.#renewMs, expiryMs ?? this.#renewMs);
    } catch (error) {
      if (error instanceof FencedOutError && this.#registration !== null) this.#declaredDead(this.#registration);
      else this.#options.onEvent({ kind: 'sharing-failed', error });
      return Math.min(this.#renewMs, this.#backoff.next());
    }
  }

  async #register(): Promise<void> {
    const { store, renewalStore, clock, name, leaseMs, sendsMail, isStalled, onEvent } = this.#options;
    await deleteDeadWorkers(store);
    const id = await store.transaction((transaction) => insertWorker(transaction, { name, leaseMs, sendsMail }));
    const lease = new LeaseKeeper({
      store: renewalStore,
      clock,
      workerId: id,
      leaseMs,
      renewMs: this.#renewMs,
      isStalled,
      onDead: () => this.#declaredDead(registration),
      onFailed: (error) => onEvent({ kind: 'renewal-failed', error }),
      onResumed: () => onEvent({ kind: 'loop-resumed', loop: 'lease' }),
    });
    const sharing = new ShardSharing(this.#options, id);
    const registration: Registration = { id, lease, sharing, isDead: false, isForgotten: false };
    this.#registration = registration;
    onEvent({ kind: 'worker-registered', workerId: id });
  }

  #declaredDead(registration: Registration): void {
    if (registration.isDead) return;
    registration.isDead = true;
    registration.sharing.end();
    this.#options.onEvent({ kind: 'worker-lost', workerId: registration.id });
    this.wake();
  }

  async #startAgain(dead: Registration): Promise<void> {
    await dead.lease.stop();
    if (!dead.isForgotten) await this.#options.onLost();
    dead.isForgotten = true;
    await this.#register();
  }
}
