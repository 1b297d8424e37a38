import type { AccountId, DeliveryId, SubscriptionId } from '../ids.ts';
import type { Shard } from '../shard.ts';
import { Attempts, type Send } from './attempts.ts';
import type { Clock } from './clock.ts';
import type { OnDispatchEvent } from './events.ts';
import { IsolatedRuns } from './isolated-runs.ts';
import { hasFreshTarget, laneNeed, targetRefreshMs } from './lane-need.ts';
import { type LaneId, LaneRegistry } from './lane-registry.ts';
import { LaneScheduler } from './lane-scheduler.ts';
import { allowedFromMs } from './lane-state.ts';
import { type Lane, QueuedDelivery } from './lane.ts';
import { defaultMemoryLimits, Memory, type MemoryLimits } from './memory.ts';
import type { PendingDelivery } from './pending-delivery.ts';
import { ResultRecorder } from './result-recorder.ts';
import { Slots } from './slots.ts';
import { SlowPace } from './slow-pace.ts';
import { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage } from './storage.ts';
import type { UnsettledResult } from './unsettled-result.ts';

export interface DispatcherOptions {
  storage: DispatchStorage;
  send: Send;
  clock: Clock;
  /** From 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  onEvent: OnDispatchEvent;
  /** The lease of the worker. Nothing settled for this time is reported as `settling-stalled`. */
  leaseMs: number;
  /** How many requests can be in flight. Defaults to 2000. */
  slots?: number | undefined;
  /** How many settle calls can be in flight. Defaults to 4. */
  settleConcurrency?: number | undefined;
  memory?: MemoryLimits | undefined;
  /** How many lanes are in memory before idle ones are forgotten. Defaults to 50,000. */
  lanesMax?: number | undefined;
}

export interface DispatcherStats {
  readonly lanes: number;
  readonly inFlight: number;
  /** Results that are not recorded yet. */
  readonly unsettled: number;
  /** Deliveries that wait in memory, and those that refills in flight can return. */
  readonly queued: number;
  readonly queuedBodyBytes: number;
}

/** How many requests start before other work of the process runs: responses, timeouts, new deliveries. */
const startsMax = 16;

/** A request that probably opens a connection takes as long to start as this many on an open one. */
const connectingStarts = 4;

/** Connects the parts, and starts requests whenever a slot is free and a lane may use it. */
export class Dispatcher {
  readonly #clock: SteadyClock;
  readonly #registry: LaneRegistry;
  readonly #memory: Memory;
  readonly #slots: Slots<Lane>;
  readonly #slowPace: SlowPace;
  readonly #isolatedRuns = new IsolatedRuns();
  readonly #scheduler: LaneScheduler;
  readonly #recorder: ResultRecorder;
  readonly #attempts: Attempts;
  readonly #drained = Promise.withResolvers<void>();
  #isClaiming = true;
  #cancelCooldownTimer: (() => void) | null = null;
  #cancelDispatchTimer: (() => void) | null = null;
  #cancelPaceTimer: (() => void) | null = null;

  constructor({ storage, send, clock, random, onEvent, leaseMs, ...options }: DispatcherOptions) {
    this.#clock = new SteadyClock(clock);
    this.#registry = new LaneRegistry(options.lanesMax ?? 50_000);
    this.#memory = new Memory(options.memory ?? defaultMemoryLimits);
    this.#slots = new Slots(options.slots ?? 2_000);
    this.#slowPace = new SlowPace(this.#slots.total);
    this.#scheduler = new LaneScheduler({
      clock: this.#clock,
      storage,
      registry: this.#registry,
      memory: this.#memory,
      slots: this.#slots,
      isolatedRuns: this.#isolatedRuns,
      onEvent,
      onGiveUp: (queued) => this.#recorder.giveUp(queued),
      onScheduled: () => this.#dispatch(),
    });
    this.#recorder = new ResultRecorder({
      storage,
      clock: this.#clock,
      concurrency: options.settleConcurrency ?? 4,
      leaseMs,
      registry: this.#registry,
      memory: this.#memory,
      scheduler: this.#scheduler,
      onEvent,
      onConcluded: (queued) => this.#endIsolatedRun(queued),
      afterConcluded: () => this.#continue(),
    });
    this.#attempts = new Attempts({
      send,
      clock: this.#clock,
      random,
      slots: this.#slots,
      onEvent,
      onResult: (result) => this.#attemptEnded(result),
    });
  }

  /**
   * Adds new deliveries. To be called immediately after the commit of the transaction that wrote them. Those that do not fit
   * into memory are read later. A lane that is not in memory is taken to have no other pending deliveries, so `openLane` must
   * have been called for those that have.
   */
  offer(deliveries: readonly PendingDelivery[]): void {
    const nowMs = this.#clock.nowMs();
    const changed = new Set<Lane>();
    for (const delivery of deliveries) {
      const lane = this.#registry.findOrAdd(delivery);
      // While a pause is being recorded, storage would still return the target.
      if (lane.isPausing || lane.known.has(delivery.deliveryId)) continue;
      if (lane.epoch === 0) this.#scheduler.openEmpty(lane);
      else if (!lane.isOpen) this.#scheduler.open(lane, nowMs);
      this.#memory.add(new QueuedDelivery(lane, delivery, delivery.dueAtMs + this.#clock.offsetMs));
      changed.add(lane);
    }
    for (const lane of changed) this.#scheduler.schedule(lane, nowMs);
    this.#dispatch();
  }

  /**
   * Whether the lanes of the account have enough in memory. What is offered meanwhile may have to be left in storage and read
   * again.
   */
  isBehind(id: AccountId): boolean {
    const account = this.#registry.findAccount(id);
    return account !== undefined && this.#memory.hasEnough(account);
  }

  /** Reads a lane that has pending deliveries in storage. What waits of it in memory is read again. */
  openLane(id: LaneId): void {
    this.#scheduler.open(this.#registry.findOrAdd(id), this.#clock.nowMs());
    this.#dispatch();
  }

  /**
   * Opens lanes of a worker that died. Each starts with one request at a time, which is counted in storage before it is sent,
   * until its first result is settled.
   */
  openShardAfterTakeover(lanes: readonly LaneId[]): void {
    const nowMs = this.#clock.nowMs();
    for (const id of lanes) {
      const lane = this.#registry.findOrAdd(id);
      lane.isRecovering = true;
      this.#scheduler.open(lane, nowMs);
    }
    this.#dispatch();
  }

  /** Starts nothing more on a lane, because its subscription is paused or deleted. Requests in flight are settled. */
  closeLane(id: SubscriptionId): void {
    const lane = this.#registry.find(id);
    if (lane !== undefined) this.#scheduler.close(lane);
  }

  /** Closes all lanes of a shard that another worker will own. */
  closeShard(shard: Shard): void {
    for (const lane of this.#registry.inShard(shard)) this.#scheduler.close(lane);
  }

  /** Closes all lanes, because other workers own all shards. */
  closeAllShards(): void {
    for (const lane of this.#registry.all()) this.#scheduler.close(lane);
  }

  /** The deliveries of these shards that are in flight or whose results are not recorded. */
  unfinishedIn(shards: readonly Shard[]): { subscriptionId: SubscriptionId; deliveryId: DeliveryId }[] {
    const lanes = shards.flatMap((shard) => this.#registry.inShard(shard));
    return lanes.flatMap(({ known }) =>
      Array.from(known.values())
        .filter(({ isClaimed }) => isClaimed)
        .map(({ delivery: { subscriptionId, deliveryId } }) => ({ subscriptionId, deliveryId })),
    );
  }

  /** Those of these shards that have lanes of a worker that died, of which nothing was settled since. */
  recoveringIn(shards: readonly Shard[]): Shard[] {
    return shards.filter((shard) => this.#registry.inShard(shard).some((lane) => lane.isOpen && lane.isRecovering));
  }

  /** The subscription has changed. Nothing more is sent before its target is read again. */
  laneChanged(id: SubscriptionId): void {
    const lane = this.#registry.find(id);
    if (lane?.isOpen) this.#scheduler.targetChanged(lane, this.#clock.nowMs());
  }

  /** Starts nothing more on any lane. */
  stopClaiming(): void {
    this.#isClaiming = false;
    this.#scheduler.stop();
    this.#cancelCooldownTimer?.();
    this.#cancelDispatchTimer?.();
    this.#cancelPaceTimer?.();
  }

  /** Stops, and resolves when everything in flight has ended and is settled. */
  drain(): Promise<void> {
    this.stopClaiming();
    this.#continue();
    return this.#drained.promise;
  }

  stats(): DispatcherStats {
    return {
      lanes: this.#registry.size,
      inFlight: this.#slots.inFlight,
      unsettled: this.#recorder.size,
      queued: this.#memory.deliveries,
      queuedBodyBytes: this.#memory.bodyBytes,
    };
  }

  #attemptEnded(result: UnsettledResult): void {
    const { lane } = result.queued;
    this.#recorder.add(result);
    if (lane.isOpen) this.#scheduler.schedule(lane, this.#clock.nowMs());
    this.#dispatch();
  }

  /** Starts what may start, or ends the drain. */
  #continue(): void {
    this.#dispatch();
    if (!this.#isClaiming && this.#slots.inFlight === 0 && this.#recorder.size === 0) this.#drained.resolve();
  }

  #dispatch(): void {
    if (!this.#isClaiming || this.#recorder.isStalled || this.#cancelDispatchTimer !== null) return;
    const nowMs = this.#clock.nowMs();
    if (this.#isolatedRuns.blocksOthers(nowMs)) {
      this.#startIsolatedRun(nowMs);
      return;
    }
    // As many results as slots can wait to be recorded. More would have to be sent again if this process died.
    let started = 0;
    while (this.#recorder.size < this.#slots.total) {
      if (started >= startsMax) {
        this.#dispatchLater();
        break;
      }
      const lane = this.#slots.next(nowMs >= this.#slowPace.nextMs);
      if (lane === null) {
        if (this.#slots.hasSlow) this.#dispatchAtSlowPace(nowMs);
        break;
      }
      if (laneNeed(lane, nowMs) === 'slot') {
        if (!lane.isQuick) this.#slowPace.started(lane.expectedMs, nowMs);
        this.#startFirst(lane, nowMs);
        started += lane.isQuick && lane.hasEnded ? 1 : connectingStarts;
      }
      // The target has become too old since the lane was scheduled.
      else this.#scheduler.schedule(lane, nowMs);
    }
    this.#scheduler.startRefills();
  }

  #dispatchLater(): void {
    this.#cancelDispatchTimer ??= this.#clock.setTimer(() => {
      this.#cancelDispatchTimer = null;
      this.#dispatch();
    }, 0);
  }

  #dispatchAtSlowPace(nowMs: number): void {
    this.#cancelPaceTimer ??= this.#clock.setTimer(() => {
      this.#cancelPaceTimer = null;
      this.#dispatch();
    }, this.#slowPace.nextMs - nowMs);
  }

  #startFirst(lane: Lane, nowMs: number): void {
    const queued = this.#memory.removeFirst(lane);
    if (queued === undefined || lane.target === null) return;
    this.#attempts.start(queued, lane.target);
    if (nowMs - lane.targetReadAtMs >= targetRefreshMs) this.#scheduler.readTarget(lane);
    this.#scheduler.schedule(lane, nowMs);
  }

  /** Starts the next delivery that runs alone, once nothing else is in flight or unsettled. */
  #startIsolatedRun(nowMs: number): void {
    if (this.#isolatedRuns.running !== null || this.#slots.inFlight > 0 || this.#recorder.size > 0) return;
    const queued = this.#isolatedRuns.next;
    if (queued === undefined) return;
    const { lane } = queued;
    const readyAtMs = Math.max(allowedFromMs(lane.state), lane.blockedUntilMs);
    if (lane.known.get(queued.delivery.deliveryId) !== queued) {
      // The lane was closed or read again.
      this.#isolatedRuns.remove(queued);
      this.#dispatch();
    } else if (readyAtMs > nowMs) {
      this.#isolatedRuns.remove(queued);
      this.#postpone(queued, readyAtMs, nowMs);
      this.#dispatch();
    } else if (lane.target === null || !hasFreshTarget(lane, nowMs)) this.#scheduler.readTarget(lane);
    else if (!queued.isCounted) this.#scheduler.countClaim(queued);
    else {
      this.#isolatedRuns.remove(queued);
      this.#isolatedRuns.running = queued;
      this.#attempts.start(queued, lane.target);
    }
  }

  #postpone({ lane, delivery }: QueuedDelivery, dueAtMs: number, nowMs: number): void {
    lane.known.delete(delivery.deliveryId);
    // In storage it is still due at its earlier time.
    lane.readWholeAtMs = -Infinity;
    this.#memory.add(new QueuedDelivery(lane, delivery, dueAtMs));
    this.#scheduler.schedule(lane, nowMs);
  }

  #endIsolatedRun(queued: QueuedDelivery): void {
    if (this.#isolatedRuns.running !== queued) return;
    const cooldownMs = this.#isolatedRuns.end(this.#clock.nowMs());
    if (!this.#isClaiming) return;
    this.#cancelCooldownTimer = this.#clock.setTimer(() => {
      this.#isolatedRuns.isCoolingDown = false;
      this.#dispatch();
    }, cooldownMs);
  }
}
