import type { DispatchEvent, Reports } from '../events.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AccountId, DeliveryId, SubscriptionId, LaneId, Shard } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import { Attempts, type UnsettledResult, type Send } from './attempts.ts';
import { laneNeed } from './lane-need.ts';
import { type BreakerCounts, LaneRegistry } from './lane-registry.ts';
import { LaneScheduler } from './lane-scheduler.ts';
import { type Lane, QueuedDelivery } from './lane.ts';
import { defaultMemoryLimits, Memory, type MemoryLimits } from './memory.ts';
import { replayRoom } from './replay-room.ts';
import { ResultRecorder } from './result-recorder.ts';
import { Slots } from './slots.ts';
import type { LanePage } from './sql/lanes.ts';
import { SteadyClock } from './steady-clock.ts';
import type { DeliveryKey, DispatchStorage, Settlement } from './storage.ts';
import { SuspectRuns } from './suspect-runs.ts';

/**
 * A target that is older than this, or than a third of the lease, is not used. While a process was stopped for so long that
 * another one has taken over, its targets have become older: it reads them again, which the fence prevents.
 */
const targetMaxAgeMs = 5_000;

/** How many requests start before the process handles other work: responses, timeouts, new deliveries. */
const startsMax = 16;

/**
 * A request that probably opens a connection counts as this many requests on an open one. Connecting takes about half a
 * millisecond, and between commit and request an event waits for about six turns of the event loop.
 */
const connectingStarts = startsMax;

/**
 * Sends the deliveries of the lanes that this process owns. Starts a request whenever a slot is free and a lane may use
 * it.
 *
 *     const dispatcher = new Dispatcher({ storage, send, clock, random, onEvent, leaseMs: 15_000 });
 *     dispatcher.openLane(lane); // it has pending deliveries in storage
 *     dispatcher.offer(deliveries); // they were just written
 *     dispatcher.closeLane(subscriptionId); // it was paused or deleted
 *     await dispatcher.drain(); // records the results of all requests in flight
 */
export class Dispatcher {
  readonly #clock: SteadyClock;
  readonly #registry: LaneRegistry;
  readonly #memory: Memory;
  readonly #slots: Slots<Lane>;
  readonly #slowPace = new SlowPace();
  readonly #scheduler: LaneScheduler;
  readonly #recorder: ResultRecorder;
  readonly #attempts: Attempts;
  readonly #suspects: SuspectRuns;
  readonly #drained = Promise.withResolvers<void>();
  #isClaiming = true;
  #cancelDispatchTimer: (() => void) | null = null;
  #cancelPaceTimer: (() => void) | null = null;

  constructor({ storage, send, clock, random, onEvent, leaseMs, ...options }: DispatcherOptions) {
    this.#clock = new SteadyClock(clock);
    this.#registry = new LaneRegistry(options.lanesMax ?? 50_000, Math.min(targetMaxAgeMs, leaseMs / 3));
    this.#memory = new Memory(options.memory ?? defaultMemoryLimits);
    this.#slots = new Slots(options.slots ?? 2_000);
    this.#scheduler = new LaneScheduler({
      clock: this.#clock,
      storage,
      registry: this.#registry,
      memory: this.#memory,
      slots: this.#slots,
      onEvent,
      onSuspect: (queued) => this.#suspects.add(queued),
      onGiveUp: (queued) => this.#recorder.giveUp(queued),
      onScheduled: () => this.#dispatch(),
    });
    this.#recorder = new ResultRecorder({
      storage,
      clock: this.#clock,
      concurrency: options.settleConcurrency ?? 4,
      leaseMs,
      memory: this.#memory,
      scheduler: this.#scheduler,
      onEvent,
      onRecorded: options.onRecorded,
      onConcluded: (queued) => {
        this.#suspects.end(queued);
        if (queued.delivery.replayId !== null) options.onReplayedSettled?.(queued.lane.id);
      },
      afterConcluded: () => this.#continue(),
    });
    this.#attempts = new Attempts({
      send,
      storage,
      clock: this.#clock,
      random,
      slots: this.#slots,
      scheduler: this.#scheduler,
      onEvent,
      onResult: (result) => this.#attemptEnded(result),
      onNotSent: (queued) => this.#suspects.end(queued),
      afterStarts: () => this.#continue(),
    });
    this.#suspects = new SuspectRuns({
      clock: this.#clock,
      slots: this.#slots,
      scheduler: this.#scheduler,
      recorder: this.#recorder,
      attempts: this.#attempts,
      onUnblocked: () => this.#dispatch(),
    });
  }

  /** Reads the targets of lanes while deliveries for them are written. The same rule as for `offer` applies to their lanes. */
  expect(lanes: readonly LaneId[]): void {
    if (!this.#isClaiming) return;
    const nowMs = this.#clock.nowMs();
    for (const id of lanes) {
      const lane = this.#registry.findOrAdd(id);
      if (lane.phase === 'new') lane.openEmpty();
      if (lane.isSending && !lane.target.isFresh(nowMs)) this.#scheduler.readTarget(lane);
    }
  }

  /**
   * Adds new deliveries. Call it immediately after the commit that wrote them. Deliveries that do not fit into memory
   * are read from storage later. A lane that is not in memory must have no other pending deliveries: if it has, call
   * `openLane` first.
   */
  offer(deliveries: readonly PendingDelivery[]): void {
    const nowMs = this.#clock.nowMs();
    const changed = new Set<Lane>();
    for (const delivery of deliveries) {
      const lane = this.#registry.findOrAdd(delivery);
      // Until the pause is recorded, storage still returns a target.
      if (lane.phase === 'pausing' || lane.known.get(delivery.deliveryId) !== undefined) continue;
      if (lane.phase === 'new') lane.openEmpty();
      else if (lane.phase === 'closed') this.#scheduler.open(lane, nowMs);
      // Due since the commit, but the clock of the database can be ahead of what this process knows of it: by 1 to 3 ms on one
      // machine, because a reading is attributed to the middle of its round trip.
      const dueAtMs = Math.min(delivery.dueAtMs + this.#clock.offsetMs, nowMs);
      this.#memory.add(new QueuedDelivery(lane, delivery, dueAtMs));
      changed.add(lane);
    }
    for (const lane of changed) this.#scheduler.schedule(lane, nowMs);
    this.#dispatch();
  }

  /**
   * Whether the lanes of the account have enough deliveries in memory. More of them may have to stay in storage and be
   * read again.
   */
  isBehind(id: AccountId): boolean {
    const account = this.#registry.findAccount(id);
    return account !== undefined && this.#memory.hasEnough(account);
  }

  /**
   * How many more replayed deliveries the lane can be offered without delaying others. Reads the target of a lane that has none.
   * The same rule as for `offer` applies to the lane.
   */
  replayRoom(id: LaneId): number {
    if (!this.#isClaiming || this.#recorder.isStalled) return 0;
    const lane = this.#registry.findOrAdd(id);
    const nowMs = this.#clock.nowMs();
    if (lane.phase === 'new') lane.openEmpty();
    // Nothing else reads the target of a lane that has nothing to send.
    if (lane.phase === 'loading' && lane.allowedFromMs <= nowMs) this.#scheduler.readTarget(lane);
    return replayRoom(lane, nowMs);
  }

  /** Whether the delivery is in flight, or its result is not recorded yet. */
  isClaimed({ subscriptionId, deliveryId }: DeliveryKey): boolean {
    return this.#registry.find(subscriptionId)?.known.get(deliveryId)?.isClaimed === true;
  }

  /** Opens a lane that has pending deliveries in storage. Discards its in-memory queue and reloads it. */
  openLane(id: LaneId): void {
    this.#scheduler.open(this.#registry.findOrAdd(id), this.#clock.nowMs());
    this.#dispatch();
  }

  /**
   * Opens lanes of an acquired shard, as `openLane` does.
   *
   * @param isRecovering the last owner died. Until its first result is recorded, each lane sends one request at a time,
   *   and storage counts the claim before the request starts.
   */
  openLanes(lanes: LanePage['lanes'], isRecovering: boolean): void {
    const nowMs = this.#clock.nowMs();
    for (const id of lanes) {
      const lane = this.#registry.findOrAdd(id);
      if (isRecovering) lane.takeOver();
      this.#scheduler.open(lane, nowMs, id.mayBeMarked);
    }
    this.#dispatch();
  }

  /**
   * Stops sending on a lane whose subscription is paused or deleted. Results of requests in flight are still recorded.
   */
  closeLane(id: SubscriptionId): void {
    const lane = this.#registry.find(id);
    if (lane !== undefined) this.#scheduler.close(lane);
  }

  /** The accounts with lanes in memory. */
  accounts(): AccountId[] {
    return this.#registry.accounts;
  }

  /**
   * Closes all lanes of accounts that are no longer at home. Returns a function that tells whether none of their deliveries is in
   * flight or not recorded yet.
   */
  closeAccounts(ids: ReadonlySet<AccountId>): () => boolean {
    const lanes = this.#registry.all().filter(({ account }) => ids.has(account.id));
    for (const lane of lanes) this.#scheduler.close(lane);
    return () => !lanes.some(({ known }) => known.values().some(({ isClaimed }) => isClaimed));
  }

  /** Closes all lanes of a shard that another worker will own. */
  closeShard(shard: Shard): void {
    for (const lane of this.#registry.inShard(shard)) this.#scheduler.close(lane);
  }

  /** Closes all lanes after this worker has lost its shards. */
  closeAllShards(): void {
    for (const lane of this.#registry.all()) this.#scheduler.close(lane);
    this.#recorder.shardsLost();
  }

  /** Returns the deliveries of these shards that are in flight or not recorded yet. */
  unfinishedIn(
    shards: readonly Shard[],
  ): { subscriptionId: SubscriptionId; deliveryId: DeliveryId; timeoutMs: number }[] {
    const lanes = shards.flatMap((shard) => this.#registry.inShard(shard));
    return lanes.flatMap(({ known }) =>
      known
        .values()
        .filter(({ isClaimed }) => isClaimed)
        .map(({ delivery: { subscriptionId, deliveryId }, timeoutMs }) => ({ subscriptionId, deliveryId, timeoutMs })),
    );
  }

  /** Returns the shards with a taken-over lane that has recorded no result yet. */
  recoveringIn(shards: readonly Shard[]): Shard[] {
    return shards.filter((shard) => this.#registry.inShard(shard).some((lane) => lane.isSending && lane.isRecovering));
  }

  /** Reads the target of a changed subscription again before its lane sends anything more. */
  rereadTarget(id: SubscriptionId): void {
    const lane = this.#registry.find(id);
    if (lane?.isSending) this.#scheduler.rereadTarget(lane, this.#clock.nowMs());
  }

  /** Stops claiming deliveries. Requests in flight continue. */
  stopClaiming(): void {
    this.#isClaiming = false;
    this.#scheduler.stop();
    this.#suspects.stop();
    this.#attempts.stop();
    this.#cancelDispatchTimer?.();
    this.#cancelPaceTimer?.();
  }

  /** Stops claiming. Resolves once every request in flight has ended and its result is recorded. */
  drain(): Promise<void> {
    this.stopClaiming();
    this.#continue();
    return this.#drained.promise;
  }

  /** How many lanes in memory have a breaker in each state. */
  breakers(): BreakerCounts {
    return this.#registry.breakers(this.#clock.nowMs());
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
    this.#scheduler.schedule(lane, this.#clock.nowMs());
    this.#dispatch();
  }

  /** Starts requests, or completes the drain. */
  #continue(): void {
    this.#dispatch();
    if (!this.#isClaiming && this.#slots.inFlight === 0 && this.#recorder.size === 0) this.#drained.resolve();
  }

  #dispatch(): void {
    if (!this.#isClaiming || this.#recorder.isStalled || this.#cancelDispatchTimer !== null) return;
    const nowMs = this.#clock.nowMs();
    if (!this.#suspects.start(nowMs)) return;
    // At most as many results as slots wait to be recorded: if this process died, their deliveries would be sent again. Those
    // of locked rows have a limit for each lane.
    let started = 0;
    while (this.#recorder.unlockedSize < this.#slots.total) {
      if (started >= startsMax) {
        this.#dispatchLater();
        break;
      }
      const lane = this.#slots.next(this.#slowPace.mayStart(nowMs));
      if (lane === null) {
        if (this.#slots.hasSlow) this.#dispatchAtSlowPace(nowMs);
        break;
      }
      if (laneNeed(lane, nowMs) === 'slot') {
        if (!lane.isQuick) this.#slowPace.start(lane.expectedMs, this.#slots.inFlightOrSlow, nowMs);
        this.#startFirst(lane, nowMs);
        started += lane.hasConnection ? 1 : connectingStarts;
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
    const queued = this.#memory.removeNext(lane, nowMs);
    if (queued === undefined) return;
    this.#attempts.start(queued);
    if (lane.target.mustRefresh(nowMs)) this.#scheduler.readTarget(lane);
    this.#scheduler.schedule(lane, nowMs);
  }
}

export interface DispatcherOptions extends Reports<DispatchEvent> {
  storage: DispatchStorage;
  send: Send;
  clock: Clock;
  /** From 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  /**
   * The lease of the worker. The dispatcher reports `settling-stalled` when results wait and it has recorded none for this
   * long.
   */
  leaseMs: number;
  /** The maximum number of requests in flight. Defaults to 2,000. */
  slots?: number | undefined;
  /** The maximum number of settle calls in flight. Defaults to 4. */
  settleConcurrency?: number | undefined;
  memory?: MemoryLimits | undefined;
  /** Idle lanes are evicted when there are more lanes than this. Defaults to 50,000. */
  lanesMax?: number | undefined;
  /** Called for each result that storage has recorded, with the time of the database. */
  onRecorded?: ((result: Settlement, nowMs: number) => void) | undefined;
  /** Called when a replayed delivery of the lane is settled, which may make room for others. */
  onReplayedSettled?: ((lane: SubscriptionId) => void) | undefined;
}

export interface DispatcherStats {
  readonly lanes: number;
  readonly inFlight: number;
  /** Results that are not recorded yet. */
  readonly unsettled: number;
  /** Deliveries that wait in memory, plus the room that refills in flight have reserved. */
  readonly queued: number;
  readonly queuedBodyBytes: number;
}

/** Longest time between two starts. Few requests need no more spreading than this. */
const gapMaxMs = 4;

/** The share of their duration over which the requests in flight restart. */
const spread = 0.8;

/** Starts of this time happen together, because they share reads of targets and statements that record results. */
const groupMs = 32;

/** Starts that were missed in this time are made up for, earlier ones are not. */
const missedMs = 4;

/**
 * Spreads requests to slow receivers over time. When a thousand requests that hang time out at once, starting the next
 * thousand at once would keep the process busy for some hundred milliseconds, and again when these time out.
 *
 * Of `n` requests that take the time `d`, one starts per `0.8 d / n`, so that all of them start again within 0.8 `d`: the
 * pace spreads them evenly, and does not limit how many slow lanes deliver. This holds for different durations as well,
 * since each request uses `0.8 / n` of the pace. Requests start in groups, one group per 32 ms.
 */
class SlowPace {
  /** When the next request of a slow lane should start. */
  nextMs = -Infinity;
  #isOpen = true;

  /** Whether a request of a slow lane may start now. */
  mayStart(nowMs: number): boolean {
    this.#isOpen = this.nextMs <= (this.#isOpen ? nowMs + groupMs : nowMs);
    return this.#isOpen;
  }

  /**
   * Call it when a request of a slow lane starts.
   *
   * @param expectedMs how long it will probably take
   * @param requests how many requests are in flight or wait for this pace, at least 1
   */
  start(expectedMs: number, requests: number, nowMs: number): void {
    this.nextMs = Math.max(this.nextMs, nowMs - missedMs) + Math.min(gapMaxMs, (spread * expectedMs) / requests);
  }
}
