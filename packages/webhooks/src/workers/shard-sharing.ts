import { LockTimeoutError, type Store } from '@deedwire/store';
import type { WorkersEvent, Reports } from '../events.ts';
import { FencedOutError, type WorkerId } from '../fence/fence.ts';
import type { Shard } from '../kernel/ids.ts';
import { planShards } from './plan-shards.ts';
import {
  type AcquiredShard,
  acquireShards,
  freeShardsOfDead,
  type InFlightDelivery,
  releaseShards,
} from './sql/shard-rows.ts';
import { declareDead, markLeaving, type Membership, selectMembership, shortenLeases } from './sql/worker-rows.ts';

export interface ShardSharingOptions extends Reports<WorkersEvent> {
  store: Store;
  /** The callbacks never overlap. A callback that rejects is called again. */
  onAcquired: (shards: readonly AcquiredShard[]) => Promise<void>;
  /** Returns the shards whose recovery is unfinished. Called before `onReleasing`. */
  recoveringIn: (shards: readonly Shard[]) => readonly Shard[];
  /** Stops work on these shards. Resolves when fan-out has stopped there. */
  onReleasing: (shards: readonly Shard[]) => Promise<void>;
  /** Returns the deliveries of these shards that are not recorded yet. Called after `onReleasing`. */
  inFlight: (shards: readonly Shard[]) => readonly InFlightDelivery[];
}

// The delay between two checks of the same expired lease.
const expiryDelayMs = 10;

/**
 * The shards of one registration. A shard passes through these states:
 *
 * | state    | in                     | next                                                      |
 * | -------- | ---------------------- | --------------------------------------------------------- |
 * | free     | no set                 | acquired, when the share of this worker is too small      |
 * | acquired | `#shards`, `#acquired` | working, when `onAcquired` has resolved                   |
 * | working  | `#shards`              | stopped, when the share is too large or the worker leaves |
 * | stopped  | `#shards`, `#stopped`  | free, when the database has released it                   |
 *
 * If `pass` rejects, the next call continues where it failed.
 */
export class ShardSharing {
  readonly #options: ShardSharingOptions;
  readonly #id: WorkerId;
  readonly #shards = new Set<Shard>();
  /** Shards that `onAcquired` has not accepted yet. */
  readonly #acquired = new Map<Shard, AcquiredShard>();
  /** Shards that `onReleasing` has stopped, but the database has not released. */
  readonly #stopped = new Set<Shard>();
  /** Stopped shards whose next owner must continue the recovery. */
  readonly #recovering = new Set<Shard>();
  #isMarkedLeaving = false;
  #hasEnded = false;

  constructor(options: ShardSharingOptions, id: WorkerId) {
    this.#options = options;
    this.#id = id;
  }

  get shards(): ReadonlySet<Shard> {
    return this.#shards;
  }

  /** Call it when the worker was declared dead. */
  end(): void {
    this.#hasEnded = true;
    this.#shards.clear();
  }

  /**
   * Takes over from workers whose leases have expired, then acquires or releases shards.
   *
   * @returns after how many milliseconds the next lease of another worker expires
   * @throws {FencedOutError}
   */
  async pass(isLeaving: boolean): Promise<number> {
    let membership = await selectMembership(this.#options.store);
    if (await this.#takeOver(membership)) membership = await selectMembership(this.#options.store);
    if (!membership.workers.some(({ id }) => id === this.#id)) throw new FencedOutError(this.#id);
    await this.#adjustTo(membership);
    await this.#announce();
    if (isLeaving) await this.#leave();
    else await this.#share(membership);
    const expiries = membership.workers.filter(({ id }) => id !== this.#id).map(({ expiresInMs }) => expiresInMs);
    return Math.max(expiryDelayMs, Math.min(...expiries) + expiryDelayMs);
  }

  /** @returns whether something may have changed */
  async #takeOver({ workers, shards }: Membership): Promise<boolean> {
    const { store, onEvent } = this.#options;
    const ahead = workers.filter(({ id, isAhead }) => id !== this.#id && isAhead).map(({ id }) => id);
    if (ahead.length > 0) await shortenLeases(store, ahead);
    const expired = workers.filter(({ id, expiresInMs }) => id !== this.#id && expiresInMs < 0).map(({ id }) => id);
    if (expired.length > 0) {
      const workerIds = await declareDead(store, expired);
      if (workerIds.length > 0) onEvent({ kind: 'workers-declared-dead', workerIds });
    }
    const alive = new Set(workers.map(({ id }) => id));
    const hasOrphans = shards.some(({ owner }) => owner !== null && !alive.has(owner));
    if (expired.length === 0 && !hasOrphans) return ahead.length > 0;
    const freed = await store.transaction(freeShardsOfDead);
    if (freed.length > 0) onEvent({ kind: 'shards-freed', shards: freed });
    return true;
  }

  /**
   * Adopts the shards that the database assigns to this worker, because the outcome of an earlier commit may be unknown.
   */
  async #adjustTo(membership: Membership): Promise<void> {
    this.#checkNotEnded();
    const owned = new Set(membership.shards.filter(({ owner }) => owner === this.#id).map(({ shard }) => shard));
    for (const shard of owned) {
      if (this.#shards.has(shard)) continue;
      // The response with the recovery flag of this shard was lost.
      this.#acquired.set(shard, { shard, isRecovering: true });
      this.#shards.add(shard);
    }
    const gone = [...this.#shards].filter((shard) => !owned.has(shard));
    await this.#stopWork(gone);
    this.#forget(gone);
  }

  async #share({ workers, shards }: Membership): Promise<void> {
    const members = workers.filter(
      ({ id, isLeaving, expiresInMs }) => id === this.#id || (!isLeaving && expiresInMs >= 0),
    );
    const counts = new Map(members.map(({ id }) => [id, shards.filter(({ owner }) => owner === id).length]));
    const free = shards.filter(({ owner }) => owner === null).length;
    const { acquire, release } = planShards({ own: this.#id, workers: counts, free });
    const working = [...this.#shards].filter((shard) => !this.#stopped.has(shard));
    await this.#release(working.slice(working.length - Math.max(0, release - this.#stopped.size)));
    if (acquire > 0) await this.#acquire(acquire);
  }

  async #acquire(limit: number): Promise<void> {
    const acquired = await acquireShards(this.#options.store, this.#id, limit);
    this.#checkNotEnded();
    for (const shard of acquired) {
      this.#acquired.set(shard.shard, shard);
      this.#shards.add(shard.shard);
    }
    await this.#announce();
  }

  async #announce(): Promise<void> {
    if (this.#acquired.size === 0) return;
    const shards = [...this.#acquired.values()];
    await this.#options.onAcquired(shards);
    this.#acquired.clear();
    this.#options.onEvent({ kind: 'shards-acquired', workerId: this.#id, shards });
    this.#checkNotEnded();
  }

  async #leave(): Promise<void> {
    if (!this.#isMarkedLeaving) {
      await this.#options.store.transaction((transaction) => markLeaving(transaction, this.#id));
      this.#isMarkedLeaving = true;
    }
    await this.#release([...this.#shards]);
  }

  /** Also releases shards that an earlier call has stopped but could not release. */
  async #release(shards: readonly Shard[]): Promise<void> {
    await this.#stopWork(shards);
    if (this.#stopped.size === 0) return;
    const stopped = [...this.#stopped];
    const inFlight = this.#options.inFlight(stopped);
    const recovering = stopped.filter((shard) => this.#recovering.has(shard));
    const release = (skipsLocked: boolean): Promise<void> =>
      this.#options.store.transaction((transaction) =>
        releaseShards(transaction, this.#id, stopped, recovering, inFlight, skipsLocked),
      );
    await release(false).catch((error: unknown) => {
      if (!(error instanceof LockTimeoutError)) throw error;
      // Who else locks a delivery for so long must not keep the shards.
      return release(true);
    });
    this.#forget(stopped);
    this.#options.onEvent({ kind: 'shards-released', workerId: this.#id, shards: stopped });
  }

  async #stopWork(shards: readonly Shard[]): Promise<void> {
    this.#checkNotEnded();
    const working = shards.filter((shard) => !this.#stopped.has(shard));
    if (working.length === 0) return;
    for (const shard of this.#options.recoveringIn(working)) this.#recovering.add(shard);
    await this.#options.onReleasing(working);
    this.#checkNotEnded();
    for (const shard of working) this.#stopped.add(shard);
  }

  #forget(shards: readonly Shard[]): void {
    for (const shard of shards) {
      this.#shards.delete(shard);
      this.#acquired.delete(shard);
      this.#stopped.delete(shard);
      this.#recovering.delete(shard);
    }
  }

  /** The lease keeper can detect during a pass that the worker was declared dead. */
  #checkNotEnded(): void {
    if (this.#hasEnded) throw new FencedOutError(this.#id);
  }
}
