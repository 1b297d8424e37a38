import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import type { ReplayEvent, Reports } from '../events.ts';
import { FencedOutError } from '../fence/fence.ts';
import type { Clock } from '../kernel/clock.ts';
import { failpoint } from '../kernel/failpoint.ts';
import {
  type DeliveryId,
  type ReplayId,
  type SubscriptionId,
  type LaneId,
  type Shard,
  shardOf,
} from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import type { OpenReplay, ReplayPart, ReplayStorage } from './storage.ts';

/** The lanes of this process, as replays use them. */
export interface ReplayedLanes {
  /** How many more replayed deliveries the lane can be offered now. */
  replayRoom(lane: LaneId): number;
  offer(deliveries: readonly PendingDelivery[]): void;
  /** Reads the lane again: it has deliveries that this process does not know. */
  openLane(lane: LaneId): void;
  /** Whether the delivery is in flight, or its result is not recorded yet. */
  isClaimed(delivery: { subscriptionId: SubscriptionId; deliveryId: DeliveryId }): boolean;
}

export interface ReplayFeederOptions extends Reports<ReplayEvent> {
  storage: ReplayStorage;
  clock: Clock;
  lanes: ReplayedLanes;
  onFenced: () => void;
}

/** How often to look for replays whose subscription change was lost, or applied by a worker of an earlier release. */
const readMs = 5_000;

/** How often to look for room in the lanes. A settled replayed delivery makes room at once. */
const tickMs = 50;

/** How many replays are fed at the same time. */
const stepsMax = 2;

/** How many deliveries may follow each other at once, however few are allowed per second. */
const burst = 8;

const refusedMs = 60_000;

/** A replay or retry in memory. */
interface Feeding {
  readonly replay: OpenReplay;
  /** Everything up to this delivery is done. */
  lastId: DeliveryId;
  /** What is left of the part that was read last. Null if the next one was not read. */
  part: ReplayPart | null;
  credit: number;
  creditAtMs: number;
  blockedUntilMs: number;
  isBusy: boolean;
}

/**
 * Queues the deliveries of retries and replays again, those of a replay in the order of their ids, as far as their lanes have
 * room after other deliveries. Everything that is in progress is in storage, so the next owner of a shard continues.
 *
 * - A replay advances in the transaction that queues its deliveries, so that a crash neither loses nor repeats any.
 * - A retry needs no room: the owner of the subscription waits for it.
 */
export class ReplayFeeder {
  readonly #options: ReplayFeederOptions;
  readonly #shards = new Set<Shard>();
  readonly #unread = new Set<Shard>();
  readonly #feedings = new Map<ReplayId, Feeding>();
  /** One for each subscription. */
  readonly #replays = new Map<SubscriptionId, Feeding>();
  readonly #steps = new Set<Promise<void>>();
  #reading: Promise<void> | null = null;
  #cancelReadTimer: (() => void) | null = null;
  #cancelTick: (() => void) | null = null;
  #isStopped = false;
  #hasFailed = false;

  constructor(options: ReplayFeederOptions) {
    this.#options = options;
  }

  /** Continues what is in progress in an acquired shard. */
  addShard(shard: Shard): void {
    this.#shards.add(shard);
    this.readAgain(shard);
    this.#planRead();
  }

  /** A replay in the shard may be new, cancelled or able to continue. */
  readAgain(shard: Shard): void {
    if (!this.#shards.has(shard)) return;
    this.#unread.add(shard);
    this.#read();
  }

  /** A replayed delivery of the lane is settled. Those that were settled by the same call follow before the lane is fed. */
  feedAgain(id: SubscriptionId): void {
    if (!this.#replays.has(id)) return;
    queueMicrotask(() => {
      const feeding = this.#replays.get(id);
      if (feeding !== undefined) this.#start(feeding);
    });
  }

  /** Stops work on the shard. Resolves once no statement for it is in progress. */
  async removeShard(shard: Shard): Promise<void> {
    this.#shards.delete(shard);
    this.#unread.delete(shard);
    for (const feeding of this.#feedings.values()) if (shardOfReplay(feeding.replay) === shard) this.#remove(feeding);
    await Promise.all([this.#reading, ...this.#steps]);
  }

  /** The worker has lost its shards. From now on, its statements write nothing. */
  removeAllShards(): void {
    this.#shards.clear();
    this.#unread.clear();
    for (const feeding of this.#feedings.values()) this.#remove(feeding);
  }

  /** Resolves once the statements that are in progress have ended: what they queue may belong to a subscription deleted meanwhile. */
  async stepsInProgress(): Promise<void> {
    await Promise.all(this.#steps);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelReadTimer?.();
    this.#cancelTick?.();
    await Promise.all([this.#reading, ...this.#steps]);
  }

  #planRead(): void {
    if (this.#isStopped || this.#cancelReadTimer !== null) return;
    this.#cancelReadTimer = this.#options.clock.setTimer(() => {
      this.#cancelReadTimer = null;
      for (const shard of this.#shards) this.#unread.add(shard);
      this.#read();
      this.#planRead();
    }, readMs);
  }

  #read(): void {
    if (this.#isStopped || this.#reading !== null || this.#unread.size === 0) return;
    const shards = [...this.#unread];
    this.#unread.clear();
    this.#reading = this.#readShards(shards).finally(() => {
      this.#reading = null;
      this.#read();
    });
  }

  async #readShards(shards: readonly Shard[]): Promise<void> {
    const { storage } = this.#options;
    try {
      const open = await storage.open(shards);
      this.#succeeded();
      const found = new Set(open.map(({ id }) => id));
      for (const feeding of this.#feedings.values()) {
        const isGone = shards.includes(shardOfReplay(feeding.replay)) && !found.has(feeding.replay.id);
        if (isGone && !feeding.isBusy) this.#remove(feeding);
      }
      for (const replay of open) if (this.#shards.has(shardOfReplay(replay))) this.#add(replay);
      this.#tick();
    } catch (error) {
      // The next read is planned.
      this.#failed(null, error);
    }
  }

  #add(replay: OpenReplay): void {
    if (this.#feedings.has(replay.id)) return;
    const feeding: Feeding = {
      replay,
      lastId: replay.lastId,
      part: null,
      credit: 1,
      creditAtMs: this.#options.clock.nowMs(),
      blockedUntilMs: -Infinity,
      isBusy: false,
    };
    this.#feedings.set(replay.id, feeding);
    if (replay.deliveryId === null) this.#replays.set(replay.lane.subscriptionId, feeding);
  }

  #remove(feeding: Feeding): void {
    const { id, lane } = feeding.replay;
    this.#feedings.delete(id);
    if (this.#replays.get(lane.subscriptionId) === feeding) this.#replays.delete(lane.subscriptionId);
  }

  #tick(): void {
    for (const feeding of this.#feedings.values()) this.#start(feeding);
    if (this.#isStopped || this.#cancelTick !== null || this.#feedings.size === 0) return;
    this.#cancelTick = this.#options.clock.setTimer(() => {
      this.#cancelTick = null;
      this.#tick();
    }, tickMs);
  }

  #start(feeding: Feeding): void {
    if (this.#isStopped || feeding.isBusy || this.#steps.size >= stepsMax) return;
    const room = this.#roomFor(feeding);
    if (room === 0) return;
    // The others come first next time.
    this.#feedings.delete(feeding.replay.id);
    this.#feedings.set(feeding.replay.id, feeding);
    feeding.isBusy = true;
    const step = this.#run(feeding, room).finally(() => {
      feeding.isBusy = false;
      this.#steps.delete(step);
      for (const other of this.#feedings.values()) this.#start(other);
    });
    this.#steps.add(step);
  }

  /** How many deliveries can be queued now. 0 if the next step has to wait. */
  #roomFor(feeding: Feeding): number {
    const { clock, lanes } = this.#options;
    const { replay, part } = feeding;
    if (clock.nowMs() < feeding.blockedUntilMs) return 0;
    // While the delivery is in flight, this is the attempt that was asked for, unless it fails.
    if (replay.deliveryId !== null)
      return lanes.isClaimed({ subscriptionId: replay.lane.subscriptionId, deliveryId: replay.deliveryId }) ? 0 : 1;
    // A part without deliveries only advances the replay.
    if (part?.deliveries.length === 0) return 1;
    return this.#creditOf(feeding) >= 1 ? lanes.replayRoom(replay.lane) : 0;
  }

  #creditOf(feeding: Feeding): number {
    const nowMs = this.#options.clock.nowMs();
    // The clock can be set forward or back.
    const elapsedMs = Math.max(0, Math.min(nowMs - feeding.creditAtMs, 1_000));
    feeding.creditAtMs = nowMs;
    feeding.credit = Math.min(burst, feeding.credit + (elapsedMs / 1_000) * feeding.replay.perSecond);
    return feeding.credit;
  }

  async #run(feeding: Feeding, room: number): Promise<void> {
    try {
      if (feeding.replay.deliveryId === null) await this.#feed(feeding, room);
      else await this.#retry(feeding);
      this.#succeeded();
    } catch (error) {
      this.#failed(feeding, error);
    }
  }

  /** @param roomBefore of the lane, before anything is read */
  async #feed(feeding: Feeding, roomBefore: number): Promise<void> {
    const { storage, lanes, onEvent } = this.#options;
    const { replay } = feeding;
    let room = roomBefore;
    if (feeding.part === null) {
      feeding.part = await storage.part(replay, feeding.lastId);
      room = lanes.replayRoom(replay.lane);
    }
    const { part } = feeding;
    const count = Math.min(Math.floor(this.#creditOf(feeding)), room, part.deliveries.length);
    if (count <= 0 && part.deliveries.length > 0) return;
    const [chosen, rest] = splitPart(part, count);
    failpoint('replay-before-write');
    const queued = await storage.feed(replay, feeding.lastId, chosen);
    failpoint('replay-after-write');
    if (queued === 'changed') {
      this.#remove(feeding);
      return;
    }
    feeding.credit -= count;
    feeding.lastId = chosen.lastId;
    feeding.part = rest;
    this.#offer(replay, queued);
    failpoint('replay-after-offer');
    if (!chosen.isLast) return;
    this.#remove(feeding);
    onEvent({ kind: 'replay-completed', replay: replay.id });
  }

  /** A lane ignores a delivery whose last result it is recording, so such a delivery follows later. */
  #offer(replay: OpenReplay, queued: readonly PendingDelivery[]): void {
    const { lanes, clock } = this.#options;
    // The next owner of the shard reads them.
    if (this.#isStopped || !this.#shards.has(shardOfReplay(replay))) return;
    const claimed = queued.filter((delivery) => lanes.isClaimed(delivery));
    if (claimed.length < queued.length) lanes.offer(queued.filter((delivery) => !claimed.includes(delivery)));
    if (claimed.length > 0) clock.setTimer(() => this.#offer(replay, claimed), tickMs);
  }

  async #retry(feeding: Feeding): Promise<void> {
    const { storage, lanes } = this.#options;
    const { replay } = feeding;
    const result = await storage.retry(replay);
    if (result === 'locked') return;
    this.#remove(feeding);
    if (result === 'queued' && this.#shards.has(shardOfReplay(replay))) lanes.openLane(replay.lane);
  }

  #succeeded(): void {
    if (this.#hasFailed) this.#options.onEvent({ kind: 'loop-resumed', loop: 'replays' });
    this.#hasFailed = false;
  }

  #failed(feeding: Feeding | null, error: unknown): void {
    const { clock, lanes, onEvent, onFenced } = this.#options;
    if (error instanceof FencedOutError) {
      this.removeAllShards();
      onFenced();
    } else if (error instanceof StoreUnavailableError || error instanceof LockTimeoutError) {
      this.#hasFailed = true;
      onEvent({ kind: 'replay-unavailable', error });
      if (feeding === null) return;
      // Its statement may have been committed. What it queued and how far it came are in storage.
      this.#remove(feeding);
      if (this.#shards.has(shardOfReplay(feeding.replay))) lanes.openLane(feeding.replay.lane);
    } else {
      if (feeding !== null) feeding.blockedUntilMs = clock.nowMs() + refusedMs;
      onEvent({ kind: 'replay-refused', alarm: true, replay: feeding?.replay.id ?? null, error });
    }
  }
}

function shardOfReplay({ lane }: OpenReplay): Shard {
  return shardOf(lane.accountId);
}

/** The first deliveries of a part, and what is left. */
function splitPart(part: ReplayPart, count: number): [ReplayPart, ReplayPart | null] {
  const last = part.deliveries[count - 1];
  if (last === undefined || count === part.deliveries.length) return [part, null];
  const chosen = { deliveries: part.deliveries.slice(0, count), lastId: last.id, isLast: false };
  return [chosen, { ...part, deliveries: part.deliveries.slice(count) }];
}
