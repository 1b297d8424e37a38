import { operatorCommand } from '@deedwire/core';
import type { DispatchEvent, Reports } from '../events.ts';
import type { Clock } from '../kernel/clock.ts';
import { noClaims, type PendingDelivery } from '../kernel/pending-delivery.ts';
import { resultWithoutAttempt, type UnsettledResult } from './attempts.ts';
import { BatchedCalls } from './batched-calls.ts';
import { callReports } from './call-reports.ts';
import { failed } from './classify-attempt.ts';
import type { LaneScheduler } from './lane-scheduler.ts';
import { shiftLaneState } from './lane-state.ts';
import { isHastened } from './lane-walk.ts';
import { type Lane, QueuedDelivery } from './lane.ts';
import type { Memory } from './memory.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage, SettleResults } from './storage.ts';

// A busy worker makes few calls with many results. With 3 ms, PostgreSQL needs about 15 % more CPU time per delivery.
const collectMs = 10;
// Small, so that applying the results of one call does not delay other work of the process.
const batchMax = 256;

/** How long a lane waits before it is read again after a stale result. */
const staleBlockedMs = 1_000;

/** If storage refuses results of this many lanes and records none in between, the fault is not in single results. */
const refusedLanesMax = 4;

export interface ResultRecorderOptions extends Reports<DispatchEvent> {
  storage: Pick<DispatchStorage, 'settle'>;
  clock: SteadyClock;
  /** The maximum number of calls in flight. */
  concurrency: number;
  /** Settling has stalled when results wait for this long and none was recorded or found locked. */
  leaseMs: number;
  memory: Memory;
  scheduler: LaneScheduler;
  /** Storage has recorded the result. `nowMs` is the time of the database. */
  onRecorded?: ((result: UnsettledResult, nowMs: number) => void) | undefined;
  /** The result of the delivery is recorded, its row is locked, or the delivery is set aside. */
  onConcluded: (queued: QueuedDelivery) => void;
  /** Called once after the results of one call. */
  afterConcluded: () => void;
}

type SettleCalls = BatchedCalls<UnsettledResult, SettleResults>;

/**
 * Records results, then updates the lanes and queues in memory. Makes few concurrent sequences of batched calls. All
 * unsettled results of a lane use the same sequence, so that the states of the lane are recorded in order and no two calls
 * change the same subscription. A slow call delays only the lanes of its sequence.
 */
export class ResultRecorder {
  readonly #options: ResultRecorderOptions;
  readonly #sequences: readonly SettleCalls[];
  readonly #watch: StallWatch;
  #lastChosen = 0;
  #size = 0;
  #locked = 0;
  /** Lanes with refused results since the last recorded one. */
  readonly #refusedLanes = new Set<Lane>();

  constructor(options: ResultRecorderOptions) {
    this.#options = options;
    const { storage, clock, concurrency, leaseMs, onEvent } = options;
    this.#watch = new StallWatch(clock, leaseMs, () =>
      onEvent({ kind: 'settling-stalled', alarm: true, unsettled: this.#size }),
    );
    const createCalls = (): SettleCalls =>
      new BatchedCalls({
        clock,
        collectMs,
        itemsMax: batchMax,
        call: (batch) => {
          attachLaneStates(batch, clock.offsetMs);
          return storage.settle(batch);
        },
        isLocked: (result, results) => results.get(result) === 'locked',
        onDone: (batch, results) => this.#settled(batch, results),
        onRefused: (result, error) => this.#refused(result, error),
        onLocked: (result, error) => this.#lockFound(result, error),
        ...callReports('settle', onEvent),
      });
    this.#sequences = Array.from({ length: concurrency }, createCalls);
  }

  /** Results that are not recorded yet. */
  get size(): number {
    return this.#size;
  }

  /** Results that are not recorded yet, without those whose row another transaction has locked. */
  get unlockedSize(): number {
    return this.#size - this.#locked;
  }

  /** No result was recorded for a whole lease. */
  get isStalled(): boolean {
    return this.#watch.isStalled;
  }

  add(result: UnsettledResult): void {
    const { lane } = result.queued;
    if (lane.unsettled === 0) lane.settleSequence = this.#freeSequence();
    lane.unsettled += 1;
    this.#size += 1;
    this.#watch.addWork();
    // The next part of a replay waits for this one. While the lane has requests in flight, their results are collected with it.
    const isUrgent = result.delivery.replayId !== null && lane.inFlight === 0;
    this.#sequences[lane.settleSequence]?.add(result, isUrgent);
    if (result.pause === null || !lane.isSending) return;
    this.#options.scheduler.pause(lane);
    this.#options.onEvent({ kind: 'lane-paused', lane: lane.id, reason: result.pause });
  }

  /**
   * The worker has lost its shards: another one records what is still pending. Ends a stall, which would otherwise last for
   * ever if storage refused the last results.
   */
  shardsLost(): void {
    this.#refusedLanes.clear();
    this.#progressed();
  }

  /** Fails a delivery that exceeded its claim limit. */
  giveUp(queued: QueuedDelivery): void {
    queued.isClaimed = true;
    this.add(resultWithoutAttempt(queued, failed));
  }

  /** Returns the first sequence without a call in flight, so that batches are large when few results arrive. */
  #freeSequence(): number {
    const free = this.#sequences.findIndex((calls) => !calls.isCalling);
    if (free !== -1) return free;
    this.#lastChosen = (this.#lastChosen + 1) % this.#sequences.length;
    return this.#lastChosen;
  }

  #settled(batch: readonly UnsettledResult[], results: SettleResults): void {
    const { clock, onEvent, onRecorded, afterConcluded } = this.#options;
    const nowMs = clock.nowMs();
    for (const result of batch) this.#remove(result);
    this.#refusedLanes.clear();
    this.#progressed();
    onEvent({ kind: 'settled', count: batch.length });
    for (const result of batch) {
      const { lane, delivery } = result.queued;
      const outcome = results.get(result);
      const isSettled = outcome === 'settled';
      const stored = isSettled ? result.laneState : null;
      lane.known.delete(delivery.deliveryId);
      lane.endRecovery();
      if (stored !== null) lane.receiver.noteStored(shiftLaneState(stored, clock.offsetMs));
      if (isSettled && isGivenUp(result)) onEvent(givenUp(delivery));
      if (isSettled || outcome === 'late') onRecorded?.(result, nowMs - clock.offsetMs);
      if (!isSettled) this.#stale(result, nowMs);
      else if (result.next.kind === 'retry' && lane.isSending) this.#retry(result, nowMs + result.next.delayMs);
      this.#concluded(result, nowMs);
    }
    afterConcluded();
  }

  #retry({ queued, attempt, isHastened: wasHastened, lastAttempt }: UnsettledResult, earliestMs: number): void {
    const { clock, memory } = this.#options;
    const { lane, delivery } = queued;
    const dueAtMs = wasHastened ? Math.max(queued.dueAtMs, earliestMs) : earliestMs;
    const attempts = delivery.attempts + (attempt === null ? 0 : 1);
    const priorAttempts = delivery.priorAttempts + (wasHastened && attempt !== null ? 1 : 0);
    const retried = { ...delivery, attempts, priorAttempts, claims: noClaims, dueAtMs: dueAtMs - clock.offsetMs };
    if (queued.isOutdated) memory.leaveInStorage(lane, dueAtMs);
    else memory.add(new QueuedDelivery(lane, retried, dueAtMs));
    // A mark was set since the attempt began, or nothing was sent.
    const isStillHastened = lastAttempt === null ? wasHastened : isHastened(lastAttempt, lane.walk.marks);
    if (isStillHastened) lane.walk.noteLeft(delivery.deliveryId);
  }

  /**
   * The delivery may still be pending, in another state. The wait bounds how much a process sends after it has lost its
   * shards.
   */
  #stale({ queued: { lane, delivery } }: UnsettledResult, nowMs: number): void {
    this.#options.onEvent({ kind: 'settlement-stale', delivery });
    this.#options.memory.leaveInStorage(lane, nowMs);
    lane.source.forgetDueTime();
    lane.blockUntil(nowMs + staleBlockedMs);
  }

  /**
   * The result waits for the lock, and nothing waits for the result: storage responds, no other worker could record it
   * either, and the delivery did not end the process.
   */
  #lockFound(result: UnsettledResult, error: unknown): void {
    const { scheduler, clock, onEvent, onConcluded, afterConcluded } = this.#options;
    const { queued } = result;
    result.isLocked = true;
    this.#locked += 1;
    this.#progressed();
    onEvent({ kind: 'storage-locked', call: 'settle', lane: queued.lane.id, error });
    queued.lane.endRecovery();
    onConcluded(queued);
    scheduler.schedule(queued.lane, clock.nowMs());
    afterConcluded();
  }

  /**
   * The delivery stays claimed, so that it is neither read nor sent again. This is no progress: if storage refuses every
   * result, another worker must take over.
   */
  #refused(result: UnsettledResult, error: unknown): void {
    const { onEvent, clock, afterConcluded } = this.#options;
    const { lane, delivery } = result.queued;
    this.#remove(result);
    this.#refusedLanes.add(lane);
    if (this.unlockedSize === 0 && this.#refusedLanes.size < refusedLanesMax) this.#watch.stop();
    onEvent({ kind: 'settlement-refused', alarm: true, delivery, error });
    if (lane.setAside(result.queued)) onEvent({ kind: 'lane-stopped', alarm: true, lane: lane.id });
    this.#concluded(result, clock.nowMs());
    afterConcluded();
  }

  #remove({ queued: { lane }, isLocked }: UnsettledResult): void {
    this.#size -= 1;
    lane.unsettled -= 1;
    if (isLocked) this.#locked -= 1;
  }

  #progressed(): void {
    const wasStalled = this.isStalled;
    this.#watch.completeWork(this.unlockedSize > 0);
    if (wasStalled) this.#options.onEvent({ kind: 'settling-resumed' });
  }

  #concluded({ queued, pause }: UnsettledResult, nowMs: number): void {
    const { scheduler, onConcluded } = this.#options;
    const { lane } = queued;
    onConcluded(queued);
    // A subscription whose URL has changed meanwhile is not paused. Reading its target shows which is the case.
    if (pause !== null && lane.phase === 'pausing') scheduler.open(lane, nowMs);
    scheduler.schedule(lane, nowMs);
    scheduler.evictIfDone(lane);
  }
}

/** Whether the delivery failed because its workers died. */
function isGivenUp({ attempt, next }: UnsettledResult): boolean {
  return attempt === null && next.kind === 'failed';
}

function givenUp(delivery: PendingDelivery): DispatchEvent {
  const command = `${operatorCommand()} delivery retry ${delivery.deliveryId}`;
  return { kind: 'delivery-given-up', alarm: true, delivery, claimedAt: delivery.claims, command };
}

/**
 * Attaches the state of each lane that storage does not have to the last result of the lane: one statement cannot update
 * a row twice. A locked result contains no state, because it is recorded at the same time as later ones.
 */
function attachLaneStates(batch: readonly UnsettledResult[], offsetMs: number): void {
  let attached: Set<Lane> | null = null;
  for (let index = batch.length - 1; index >= 0; index -= 1) {
    const result = batch[index];
    if (result === undefined) continue;
    const { lane } = result.queued;
    result.laneState = null;
    // Storage ignores the state of another URL.
    if (!lane.mustStoreState || result.isLocked || result.urlNumber !== lane.target.current?.urlNumber) continue;
    attached ??= new Set();
    if (attached.has(lane)) continue;
    attached.add(lane);
    result.laneState = shiftLaneState(lane.receiver.state, -offsetMs);
  }
}

/**
 * Detects that work is waiting and none of it was completed for a given time. Uses timers only, so that clock
 * corrections do not matter.
 */
class StallWatch {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #limitMs: number;
  readonly #onStalled: () => void;
  #cancelTimer: (() => void) | null = null;

  isStalled = false;

  constructor(clock: Pick<Clock, 'setTimer'>, limitMs: number, onStalled: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onStalled = onStalled;
  }

  addWork(): void {
    if (this.#cancelTimer === null && !this.isStalled) this.#start();
  }

  /** @param hasMore whether other work is waiting */
  completeWork(hasMore: boolean): void {
    this.isStalled = false;
    this.stop();
    if (hasMore) this.#start();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #start(): void {
    this.#cancelTimer = this.#clock.setTimer(() => {
      this.#cancelTimer = null;
      this.isStalled = true;
      this.#onStalled();
    }, this.#limitMs);
  }
}
