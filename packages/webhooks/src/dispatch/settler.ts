import type { DeliveryId, SubscriptionId } from '../ids.ts';
import { BatchedCalls } from './batched-calls.ts';
import type { Clock } from './clock.ts';
import type { Lane } from './lane.ts';
import { StallWatch } from './stall-watch.ts';
import type { DispatchStorage, SettleResult } from './storage.ts';
import type { UnsettledResult } from './unsettled-result.ts';

const collectMs = 3;
// Small enough that putting the results of one call into effect does not delay other work of the process.
const batchMax = 256;

/** When results of this many lanes are refused without a recorded one in between, that is not the fault of single results. */
const refusedLanesMax = 4;

export interface SettlerOptions {
  storage: Pick<DispatchStorage, 'settle'>;
  clock: Pick<Clock, 'setTimer'>;
  /** How many calls can be in flight. */
  concurrency: number;
  /** Nothing settled for this time is a stall. */
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
 * Records results in batches, with a few calls in flight at the same time. All unsettled results of a lane go through the
 * same sequence of calls, so that the states of the lane are recorded in order, and no two calls change the same
 * subscription. A call that takes long, for example because a row is locked, delays only the lanes that have results in it.
 */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #sequences: readonly SettleCalls[];
  readonly #watch: StallWatch;
  #lastChosen = 0;
  #size = 0;
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
            keepLastLaneStates(batch);
            return options.storage.settle(batch);
          },
          onDone: (batch, results) => this.#settled(batch, results),
          onRefused: (result, error) => this.#refused(result, error),
          onLocked: (result, error) => {
            // Later results of the lane overtake this one, and their states are later.
            result.laneState = null;
            options.onLocked(result, error);
          },
          onUnavailable: (error) => options.onUnavailable(error),
        }),
    );
  }

  /** Results that are not recorded yet. */
  get size(): number {
    return this.#size;
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

  /** The first sequence without a call in flight, so that batches are large when few results arrive. */
  #freeSequence(): number {
    const free = this.#sequences.findIndex((calls) => !calls.isCalling);
    if (free !== -1) return free;
    this.#lastChosen = (this.#lastChosen + 1) % this.#sequences.length;
    return this.#lastChosen;
  }

  #settled(batch: readonly UnsettledResult[], results: ReadonlyMap<DeliveryId, SettleResult>): void {
    this.#size -= batch.length;
    for (const { queued } of batch) queued.lane.unsettled -= 1;
    this.#refusedLanes.clear();
    const wasStalled = this.isStalled;
    this.#watch.workCompleted(this.#size > 0);
    if (wasStalled) this.#options.onResumed();
    this.#options.onSettled(batch, results);
  }

  /** A refused result does not count as progress: when storage refuses all results, another worker has to take over. */
  #refused(result: UnsettledResult, error: unknown): void {
    this.#size -= 1;
    result.queued.lane.unsettled -= 1;
    this.#refusedLanes.add(result.queued.lane);
    if (this.#size === 0 && this.#refusedLanes.size < refusedLanesMax) this.#watch.stop();
    this.#options.onRefused(result, error);
  }
}

/** Storage updates each lane once, to its last state. */
function keepLastLaneStates(batch: readonly UnsettledResult[]): void {
  let seen: Set<SubscriptionId> | null = null;
  for (let index = batch.length - 1; index >= 0; index -= 1) {
    const result = batch[index];
    if (result === undefined || result.laneState === null) continue;
    seen ??= new Set();
    if (seen.has(result.delivery.subscriptionId)) result.laneState = null;
    else seen.add(result.delivery.subscriptionId);
  }
}
