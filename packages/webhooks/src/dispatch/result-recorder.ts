import type { DeliveryId } from '../kernel/ids.ts';
import { failed } from './classify-attempt.ts';
import type { OnDispatchEvent } from './events.ts';
import type { LaneScheduler } from './lane-scheduler.ts';
import { shiftLaneState } from './lane-state.ts';
import { QueuedDelivery } from './lane.ts';
import type { Memory } from './memory.ts';
import { Settler } from './settler.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage, SettleResult } from './storage.ts';
import type { UnsettledResult } from './unsettled-result.ts';

/** How long a lane waits before it is read again after a stale result. */
const staleBlockedMs = 1_000;

export interface ResultRecorderOptions {
  storage: Pick<DispatchStorage, 'settle'>;
  clock: SteadyClock;
  concurrency: number;
  leaseMs: number;
  memory: Memory;
  scheduler: LaneScheduler;
  onEvent: OnDispatchEvent;
  /** The result of the delivery is recorded, its row is locked, or the delivery is set aside. */
  onConcluded: (queued: QueuedDelivery) => void;
  /** Called once after the results of one call. */
  afterConcluded: () => void;
}

/** Records results, then updates the lanes and queues in memory. */
export class ResultRecorder {
  readonly #options: ResultRecorderOptions;
  readonly #settler: Settler;

  constructor(options: ResultRecorderOptions) {
    this.#options = options;
    const { storage, clock, concurrency, leaseMs, onEvent } = options;
    this.#settler = new Settler({
      storage,
      clock,
      concurrency,
      leaseMs,
      onSettled: (batch, results) => this.#settled(batch, results),
      onRefused: (result, error) => this.#refused(result, error),
      onLocked: ({ queued }, error) => this.#lockFound(queued, error),
      onUnavailable: (error) => onEvent({ kind: 'storage-unavailable', call: 'settle', error }),
      onStalled: () => onEvent({ kind: 'settling-stalled', alarm: true, unsettled: this.#settler.size }),
      onResumed: () => onEvent({ kind: 'settling-resumed' }),
    });
  }

  /** Results that are not recorded yet. */
  get size(): number {
    return this.#settler.size;
  }

  /** Results that are not recorded yet, without those whose row another transaction has locked. */
  get unlockedSize(): number {
    return this.#settler.unlockedSize;
  }

  /** No result was recorded for a whole lease. */
  get isStalled(): boolean {
    return this.#settler.isStalled;
  }

  add(result: UnsettledResult): void {
    const { lane } = result.queued;
    this.#settler.add(result);
    if (result.pause === null || !lane.isSending) return;
    this.#options.scheduler.pause(lane);
    this.#options.onEvent({ kind: 'lane-paused', lane: lane.id, reason: result.pause });
  }

  /** Fails a delivery that exceeded its claim limit. */
  giveUp(queued: QueuedDelivery): void {
    const { delivery } = queued;
    queued.isClaimed = true;
    this.#options.onEvent({ kind: 'delivery-given-up', alarm: true, delivery });
    this.add({
      queued,
      delivery,
      attempt: null,
      next: failed,
      laneState: null,
      isLocked: false,
      pause: null,
      urlNumber: null,
    });
  }

  #settled(batch: readonly UnsettledResult[], results: ReadonlyMap<DeliveryId, SettleResult>): void {
    const { clock, onEvent } = this.#options;
    const nowMs = clock.nowMs();
    onEvent({ kind: 'settled', count: batch.length });
    for (const result of batch) {
      const { lane, delivery } = result.queued;
      lane.known.delete(delivery.deliveryId);
      lane.recovered();
      const isSettled = results.get(delivery.deliveryId) === 'settled';
      if (isSettled && result.laneState !== null)
        lane.receiver.stateStored(shiftLaneState(result.laneState, clock.offsetMs));
      if (!isSettled) this.#stale(result, nowMs);
      else if (result.next.kind === 'retry' && lane.isSending) this.#retry(result, nowMs + result.next.delayMs);
      this.#concluded(result, nowMs);
    }
    this.#options.afterConcluded();
  }

  #retry({ queued: { lane, delivery } }: UnsettledResult, dueAtMs: number): void {
    const { clock, memory } = this.#options;
    const attempts = delivery.attempts + 1;
    const retried = { ...delivery, attempts, claims: 0, dueAtMs: dueAtMs - clock.offsetMs };
    memory.add(new QueuedDelivery(lane, retried, dueAtMs));
  }

  /**
   * The delivery may still be pending, in another state. The wait bounds how much a process sends after it has lost its
   * shards.
   */
  #stale({ queued: { lane, delivery } }: UnsettledResult, nowMs: number): void {
    this.#options.onEvent({ kind: 'settlement-stale', delivery });
    this.#options.memory.leaveInStorage(lane, nowMs);
    lane.source.dueTimeUnknown();
    lane.blocked(nowMs + staleBlockedMs);
  }

  /** The result waits for the lock. Its lane and an isolated run do not: the delivery did not end the process. */
  #lockFound(queued: QueuedDelivery, error: unknown): void {
    const { scheduler, clock, onEvent, onConcluded, afterConcluded } = this.#options;
    const { lane } = queued;
    onEvent({ kind: 'storage-locked', call: 'settle', lane: lane.id, error });
    lane.recovered();
    onConcluded(queued);
    scheduler.schedule(lane, clock.nowMs());
    afterConcluded();
  }

  /** The delivery stays claimed, so that it is neither read nor sent again. */
  #refused(result: UnsettledResult, error: unknown): void {
    const { onEvent, clock, afterConcluded } = this.#options;
    const { lane, delivery } = result.queued;
    onEvent({ kind: 'settlement-refused', alarm: true, delivery, error });
    if (lane.resultRefused()) onEvent({ kind: 'lane-stopped', alarm: true, lane: lane.id });
    this.#concluded(result, clock.nowMs());
    afterConcluded();
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
