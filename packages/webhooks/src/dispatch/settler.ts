import type { DeliveryId } from '../kernel/ids.ts';
import { BatchedCalls } from './batched-calls.ts';
import { shiftLaneState } from './lane-state.ts';
import type { Lane } from './lane.ts';
import { StallWatch } from './stall-watch.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage, SettleResult } from './storage.ts';
import type { UnsettledResult } from './unsettled-result.ts';

const collectMs = 3;
// Small, so that applying the results of one call does not delay other work of the process.
const batchMax = 256;

/** If storage refuses results of this many lanes and records none in between, the fault is not in single results. */
const refusedLanesMax = 4;

export interface SettlerOptions {
  storage: Pick<DispatchStorage, 'settle'>;
  clock: Pick<SteadyClock, 'setTimer' | 'offsetMs'>;
  /** The maximum number of calls in flight. */
  concurrency: number;
  /** Settling has stalled when results wait for this long and none was recorded or found locked. */
  leaseMs: number;
  onSettled: (batch: readonly UnsettledResult[], results: ReadonlyMap<DeliveryId, SettleResult>) => void;
  onRefused: (result: UnsettledResult, error: unknown) => void;
  onLocked: (result: UnsettledResult, error: unknown) => void;
  onUnavailable: (error: unknown) => void;
  onStalled: () => void;
  onResumed: () => void;
}

type SettleCalls = BatchedCalls<UnsettledResult, ReadonlyMap<DeliveryId, SettleResult>>;

/**
 * Records results in batches, through a few concurrent sequences of calls. All unsettled results of a lane use the same
 * sequence, so that the states of the lane are recorded in order and no two calls change the same subscription. A slow
 * call, for example on a locked row, delays only the lanes of its sequence.
 */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #sequences: readonly SettleCalls[];
  readonly #watch: StallWatch;
  #lastChosen = 0;
  #size = 0;
  #locked = 0;
  /** Lanes with refused results since the last recorded one. */
  readonly #refusedLanes = new Set<Lane>();

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#watch = new StallWatch(options.clock, options.leaseMs, () => options.onStalled());
    this.#sequences = Array.from(
      { length: options.concurrency },
      () =>
        new BatchedCalls({
          clock: options.clock,
          collectMs,
          itemsMax: batchMax,
          call: (batch) => {
            attachLaneStates(batch, options.clock.offsetMs);
            return options.storage.settle(batch);
          },
          onDone: (batch, results) => this.#settled(batch, results),
          onRefused: (result, error) => this.#refused(result, error),
          onLocked: (result, error) => this.#lockFound(result, error),
          onUnavailable: (error) => options.onUnavailable(error),
        }),
    );
  }

  /** Results that are not recorded yet. */
  get size(): number {
    return this.#size;
  }

  /** Results that are not recorded yet, without those whose row another transaction has locked. */
  get unlockedSize(): number {
    return this.#size - this.#locked;
  }

  get isStalled(): boolean {
    return this.#watch.isStalled;
  }

  add(result: UnsettledResult): void {
    const { lane } = result.queued;
    if (lane.unsettled === 0) lane.settleSequence = this.#freeSequence();
    lane.unsettled += 1;
    this.#size += 1;
    this.#watch.workAdded();
    this.#sequences[lane.settleSequence]?.add(result);
  }

  /** Returns the first sequence without a call in flight, so that batches are large when few results arrive. */
  #freeSequence(): number {
    const free = this.#sequences.findIndex((calls) => !calls.isCalling);
    if (free !== -1) return free;
    this.#lastChosen = (this.#lastChosen + 1) % this.#sequences.length;
    return this.#lastChosen;
  }

  #settled(batch: readonly UnsettledResult[], results: ReadonlyMap<DeliveryId, SettleResult>): void {
    for (const result of batch) this.#remove(result);
    this.#refusedLanes.clear();
    this.#progressed();
    this.#options.onSettled(batch, results);
  }

  /** Storage responds, and no other worker could record the result either. So it is not waited for. */
  #lockFound(result: UnsettledResult, error: unknown): void {
    result.isLocked = true;
    this.#locked += 1;
    this.#progressed();
    this.#options.onLocked(result, error);
  }

  #progressed(): void {
    const wasStalled = this.isStalled;
    this.#watch.workCompleted(this.unlockedSize > 0);
    if (wasStalled) this.#options.onResumed();
  }

  #remove({ queued: { lane }, isLocked }: UnsettledResult): void {
    this.#size -= 1;
    lane.unsettled -= 1;
    if (isLocked) this.#locked -= 1;
  }

  /** A refused result is no progress: if storage refuses every result, another worker must take over. */
  #refused(result: UnsettledResult, error: unknown): void {
    this.#remove(result);
    this.#refusedLanes.add(result.queued.lane);
    if (this.unlockedSize === 0 && this.#refusedLanes.size < refusedLanesMax) this.#watch.stop();
    this.#options.onRefused(result, error);
  }
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
