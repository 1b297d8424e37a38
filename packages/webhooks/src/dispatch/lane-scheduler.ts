import type { DispatchEvent, Reports, StorageCall } from '../events.ts';
import { Heap } from '../kernel/heap.ts';
import type { SubscriptionId } from '../kernel/ids.ts';
import { callReports } from './call-reports.ts';
import { LaneCalls } from './lane-calls.ts';
import { laneNeed } from './lane-need.ts';
import type { LaneRegistry } from './lane-registry.ts';
import type { LaneTarget } from './lane-target.ts';
import { type Lane, QueuedDelivery, type WakeNode } from './lane.ts';
import type { Memory } from './memory.ts';
import { Refiller } from './refiller.ts';
import type { Slots } from './slots.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage, Refill, Walk } from './storage.ts';

/** How long a lane waits when it cannot be read, or when its secret cannot be decrypted. */
const blockedMs = 60_000;

/** How long a lane waits after the claim of its delivery could not be counted. */
const uncountedBlockedMs = 1_000;

/** How long a lane waits at least after a refill without a delivery. */
const emptyRefillMs = 100;

/** While memory is crowded, a lane that waits for longer than this drops its queue. */
const shortWaitMs = 5_000;

export interface LaneSchedulerOptions extends Reports<DispatchEvent> {
  clock: SteadyClock;
  storage: DispatchStorage;
  registry: LaneRegistry;
  memory: Memory;
  slots: Slots<Lane>;
  /** The first delivery of a lane was claimed twice or more. It is removed from the queue. */
  onSuspect: (queued: QueuedDelivery) => void;
  /** The first delivery of a lane exceeded its claim limit. It is removed from the queue. */
  onGiveUp: (queued: QueuedDelivery) => void;
  /** A timer or a response of storage has scheduled lanes, so some may be able to start. */
  onScheduled: () => void;
}

/** Provides what each lane needs (see `LaneNeed`) until it only needs a slot, then requests the slot. */
export class LaneScheduler {
  readonly #options: LaneSchedulerOptions;
  readonly #wakes: WakeSchedule;
  readonly #refiller: Refiller;
  readonly #targets: LaneCalls<Lane, ReadonlyMap<SubscriptionId, LaneTarget>>;

  constructor(options: LaneSchedulerOptions) {
    this.#options = options;
    const { clock, storage, memory, onScheduled } = options;
    const failures = (call: StorageCall) => ({
      onRefused: (lane: Lane, error: unknown) => {
        this.refuse(lane, call, error);
        onScheduled();
      },
      onLocked: (lane: Lane, error: unknown) => options.onEvent({ kind: 'storage-locked', call, lane: lane.id, error }),
      ...callReports(call, options.onEvent),
    });
    this.#wakes = new WakeSchedule(clock, (lane, nowMs) => this.schedule(lane, nowMs), onScheduled);
    this.#refiller = new Refiller({
      storage,
      clock,
      memory,
      onRead: (lane, read) => this.#read(lane, read),
      ...failures('refill'),
    });
    this.#targets = new LaneCalls({
      clock,
      collectMs: 1,
      // Small, because each target has a secret to decrypt.
      itemsMax: 128,
      callOf: (lane) => lane.target.call,
      call: (lanes) => storage.targets(lanes.map(({ id }) => id)),
      onResult: (lane, targets) => this.#targetRead(lane, targets.get(lane.id) ?? null),
      afterResults: onScheduled,
      ...failures('targets'),
    });
  }

  /** Call it after every change to a lane. */
  schedule(lane: Lane, nowMs: number): void {
    const { slots, memory, onSuspect, onGiveUp } = this.#options;
    if (lane.walk.isHeld) memory.forgetQueue(lane.hastened);
    const need = laneNeed(lane, nowMs);
    if (need === 'slot') {
      this.#wakes.clear(lane);
      slots.request(lane);
      return;
    }
    slots.withdraw(lane);
    if (need === 'time') {
      this.#waitForTime(lane, nowMs);
      return;
    }
    this.#wakes.clear(lane);
    const first = lane.dueQueue(nowMs)?.first;
    if (need === 'deliveries') {
      // Deliveries that wait for their retry.
      memory.forgetQueue(lane.queue);
      this.#refiller.request(lane);
      if (first !== undefined) this.schedule(lane, nowMs);
    }
    if (need === 'target') this.#targets.request(lane);
    else if (need === 'suspect-run' || need === 'give-up') {
      const queued = memory.removeNext(lane, nowMs);
      if (queued !== undefined) (need === 'give-up' ? onGiveUp : onSuspect)(queued);
      this.schedule(lane, nowMs);
    }
  }

  /** Reloads the lane from storage. Drops queued deliveries that are not claimed. */
  open(lane: Lane, nowMs: number, mayBeMarked = true): void {
    this.#options.memory.forget(lane);
    lane.reload(mayBeMarked);
    this.schedule(lane, nowMs);
  }

  /** Stops sending on the lane. Evicts it after its last result is recorded. */
  close(lane: Lane): void {
    this.#options.memory.forget(lane);
    lane.close();
    this.#stopWaiting(lane);
    this.evictIfDone(lane);
  }

  /** Stops sending on the lane until the result that pauses its subscription is recorded. */
  pause(lane: Lane): void {
    this.#options.memory.forget(lane);
    lane.beginPause();
    this.#stopWaiting(lane);
  }

  /** Reads the target and the stored state again before the lane sends anything more. */
  rereadTarget(lane: Lane, nowMs: number): void {
    lane.reread();
    this.schedule(lane, nowMs);
  }

  evictIfDone(lane: Lane): void {
    if (lane.isDone) this.#options.registry.remove(lane);
  }

  readTarget(lane: Lane): void {
    this.#targets.request(lane);
  }

  /** Puts back a delivery that was removed from the queue of its lane and is not sent now. */
  putBack({ lane, delivery, isHastened, isOutdated, isCounted }: QueuedDelivery, dueAtMs: number, nowMs: number): void {
    const { memory } = this.#options;
    lane.known.delete(delivery.deliveryId);
    if (!lane.isSending) return this.evictIfDone(lane);
    // Storage may have an earlier due time.
    lane.source.forgetDueTime();
    if (isHastened) lane.walk.noteLeft(delivery.deliveryId);
    // In the queue, what is hastened would count for its schedule.
    if (isHastened || isOutdated) memory.leaveInStorage(lane, dueAtMs);
    else {
      const queued = new QueuedDelivery(lane, delivery, dueAtMs);
      // Without a request in between, it must not be counted again: at the limit, a delivery fails.
      queued.isCounted = isCounted;
      memory.add(queued);
    }
    this.schedule(lane, nowMs);
  }

  /** Reads the lane again: one of its deliveries is locked by another transaction, which may settle it, or no longer pending. */
  readAgain(lane: Lane): void {
    if (!lane.isSending) return;
    this.#options.memory.forget(lane);
    lane.reload(true);
    lane.blockUntil(this.#options.clock.nowMs() + uncountedBlockedMs);
  }

  /** Storage refuses the lane, which waits. */
  refuse(lane: Lane, call: StorageCall, error: unknown): void {
    const nowMs = this.#options.clock.nowMs();
    lane.blockUntil(nowMs + blockedMs);
    this.#options.onEvent({ kind: 'lane-refused', alarm: true, lane: lane.id, call, error });
    this.schedule(lane, nowMs);
  }

  /** Call it after memory was freed. */
  startRefills(): void {
    this.#refiller.startNext();
  }

  stop(): void {
    this.#wakes.stop();
    this.#refiller.stop();
    this.#targets.stop();
  }

  #waitForTime(lane: Lane, nowMs: number): void {
    const { readyAtMs } = lane;
    if (readyAtMs - nowMs > shortWaitMs && this.#options.memory.isCrowded) this.#options.memory.forget(lane);
    this.#wakes.set(lane, readyAtMs, nowMs);
  }

  #stopWaiting(lane: Lane): void {
    this.#options.slots.withdraw(lane);
    this.#wakes.clear(lane);
  }

  #read(lane: Lane, read: Refill | Walk): void {
    const { clock, memory, onScheduled } = this.#options;
    const nowMs = clock.nowMs();
    const { offsetMs } = clock;
    const isWalk = 'readTo' in read;
    if (isWalk) lane.walk.endRead(read.readTo, read.hasFailedSince);
    else {
      const dueAtMs = read.nextDueAtMs === null ? Infinity : read.nextDueAtMs + offsetMs;
      // By the clock of the database, nothing may be due yet: it was set back, and this process has not read it since.
      lane.source.endRefill(read.deliveries.length > 0 ? dueAtMs : Math.max(dueAtMs, nowMs + emptyRefillMs));
    }
    for (const delivery of read.deliveries) {
      memory.addRefilled(lane.queuedOf(delivery, delivery.dueAtMs + offsetMs, isWalk));
    }
    this.schedule(lane, nowMs);
    onScheduled();
  }

  #targetRead(lane: Lane, target: LaneTarget | null): void {
    if (target === null) return this.close(lane);
    const { clock, slots, onEvent } = this.#options;
    const nowMs = clock.nowMs();
    // The place of a lane depends on its history, which ends with a new URL, and starts with the stored state.
    if (lane.phase === 'loading' || lane.target.isOtherUrl(target)) slots.withdraw(lane);
    if (!lane.useTarget(target, nowMs, clock.offsetMs)) {
      lane.blockUntil(nowMs + blockedMs);
      onEvent({ kind: 'secret-unreadable', alarm: true, lane: lane.id });
    }
    this.schedule(lane, nowMs);
  }
}

/** The longest timer, so that the clock is read again soon after it was set forward. */
const timerMaxMs = 60_000;

/** Wakes each lane at its time, with one timer for all lanes. */
class WakeSchedule {
  readonly #clock: SteadyClock;
  readonly #onWake: (lane: Lane, nowMs: number) => void;
  readonly #afterWake: () => void;
  readonly #heap = new Heap<WakeNode>();
  #cancelTimer: (() => void) | null = null;
  #timerAtMs = Infinity;

  /** @param afterWake called once after each group of lanes that woke together */
  constructor(clock: SteadyClock, onWake: (lane: Lane, nowMs: number) => void, afterWake: () => void) {
    this.#clock = clock;
    this.#onWake = onWake;
    this.#afterWake = afterWake;
  }

  set(lane: Lane, atMs: number, nowMs: number): void {
    const { wake } = lane;
    if (wake.heapIndex !== -1) {
      if (wake.heapKey === atMs) return;
      this.#heap.remove(wake);
    }
    this.#heap.add(wake, atMs);
    if (atMs < this.#timerAtMs) this.#startTimer(nowMs);
  }

  clear(lane: Lane): void {
    if (lane.wake.heapIndex !== -1) this.#heap.remove(lane.wake);
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerAtMs = -Infinity;
  }

  #startTimer(nowMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerAtMs = Infinity;
    const { first } = this.#heap;
    if (first === undefined) return;
    const delayMs = Math.min(Math.max(1, Math.ceil(first.heapKey - nowMs)), timerMaxMs);
    this.#timerAtMs = nowMs + delayMs;
    this.#cancelTimer = this.#clock.setTimer(() => this.#wake(), delayMs);
  }

  #wake(): void {
    const nowMs = this.#clock.nowMs();
    // Otherwise each callback that sets a wake-up would start a timer. One is started for all of them below.
    this.#timerAtMs = -Infinity;
    for (let { first } = this.#heap; first !== undefined && first.heapKey <= nowMs; { first } = this.#heap) {
      this.#heap.remove(first);
      this.#onWake(first.lane, nowMs);
    }
    this.#startTimer(nowMs);
    this.#afterWake();
  }
}
