import type { HeapNode } from '../kernel/heap.ts';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import type { Account } from './account.ts';
import { isBreakerOpen } from './breaker.ts';
import { LaneCall } from './lane-calls.ts';
import { LaneQueue } from './lane-queue.ts';
import { allowedFromMs, cleanLaneState, isSameLaneState, type LaneState } from './lane-state.ts';
import type { SendableTarget } from './lane-target.ts';
import { SlotLane } from './slots.ts';

/** The maximum number of concurrent requests to one receiver. */
const windowMax = 16;

/** The maximum number of deliveries in flight or unsettled per lane. Bounds the list of ids that a refill excludes. */
const unfinishedMax = 64;

/**
 * A lane stops after storage refused this many of its results, because the receiver may get each of these deliveries again.
 */
export const setAsideMax = 16;

const quickMs = 500;
const goodResponsesToBeQuick = 20;

/** The node of a lane in the heap of wake-ups. The heaps of `Slots` contain the lane itself. */
export interface WakeNode extends HeapNode {
  readonly lane: Lane;
}

/**
 * One subscription in the memory of this process. It holds the first deliveries of the subscription, in order; the rest are
 * in storage only. Times are by the steady clock.
 *
 * | state      | flags                    | the lane                              | ends                                                                                                              |
 * | ---------- | ------------------------ | ------------------------------------- | ----------------------------------------------------------------------------------------------------------------- |
 * | closed     | not `isOpen`             | sends nothing                         | when it is opened, or evicted                                                                                     |
 * | recovering | `isOpen`, `isRecovering` | sends one counted request at a time   | with the first recorded result                                                                                    |
 * | open       | `isOpen`                 | sends                                 | when it is closed, or a result pauses it                                                                          |
 * | pausing    | `isPausing`              | sends nothing, ignores new deliveries | when the result that pauses it is recorded: the lane is opened, and reading its target shows whether it is paused |
 *
 * `refillCall`, `targetCall` and `countCall` say which call to storage an open lane waits for. `laneNeed` derives the next
 * step.
 */
export class Lane extends SlotLane {
  readonly id: SubscriptionId;
  override readonly account: Account;
  readonly wake: WakeNode = { lane: this, heapKey: 0, heapIndex: -1 };

  readonly queue = new LaneQueue<QueuedDelivery>();
  /** All deliveries of the lane in this process: queued, suspicious (see `SuspectRuns`), or claimed. */
  readonly known = new Map<DeliveryId, QueuedDelivery>();
  /** A lower bound for the due time of the first delivery that is in storage only. Infinity if the queue is complete. */
  storedDueAtMs = Infinity;
  /** A refill is requested or in flight. The queue is empty, and nothing is added to it. */
  readonly refillCall = new LaneCall();
  /** The due time of the first delivery that the refill in flight may have missed. Infinity if there is none. */
  missedDueAtMs = Infinity;

  /** When a refill last read the lane from its start. -Infinity: the next refill must do so. */
  readWholeAtMs = -Infinity;

  isOpen = false;
  /** Incremented when the lane is opened or closed. Responses of storage to requests of an earlier epoch are ignored. */
  epoch = 0;
  /** A result that pauses the subscription is not recorded yet, so storage still returns a target. */
  isPausing = false;

  target: SendableTarget | null = null;
  targetReadAtMs = -Infinity;
  readonly targetCall = new LaneCall();
  /** The next target replaces the state of the lane. */
  adoptsState = true;
  state: LaneState = cleanLaneState;
  /** The state that storage has, as far as known: the same object as `state` if it is equal. */
  storedState: LaneState = cleanLaneState;
  /** The lane starts nothing before this time, because its target or its deliveries could not be read. */
  blockedUntilMs = -Infinity;

  /** The maximum number of requests in flight while the breaker is closed. */
  window = 1;
  #goodResponses = goodResponsesToBeQuick;
  /** Deliveries whose result is not recorded yet. Written by the settler. */
  unsettled = 0;
  /** The sequence of calls that records the results of the lane. Does not change while any are unsettled. */
  settleSequence = 0;
  /** Deliveries whose result storage refused. They stay claimed. */
  setAside = 0;

  /** The lane was opened after an expired lease and has recorded no result since. */
  isRecovering = false;
  /** The claim of its first delivery is being counted. */
  readonly countCall = new LaneCall();

  constructor(id: SubscriptionId, account: Account) {
    super();
    this.id = id;
    this.account = account;
  }

  /** At least 20 requests succeeded since the last one that took more than 500 ms. A lane without history is quick. */
  get isQuick(): boolean {
    return this.#goodResponses >= goodResponsesToBeQuick;
  }

  /** Whether the lane may have another request in flight. While the breaker is open or the lane recovers, one at a time. */
  get hasCapacity(): boolean {
    if (this.isRecovering && this.unsettled > 0) return false;
    const limit = isBreakerOpen(this.state) || this.isRecovering ? 1 : this.window;
    return this.inFlight < limit && this.inFlight + this.unsettled < unfinishedMax && this.setAside < setAsideMax;
  }

  /** Open, without deliveries in memory or in storage. */
  get isIdle(): boolean {
    return this.isOpen && this.known.size === 0 && this.storedDueAtMs === Infinity;
  }

  /** When the lane can start a request or a refill. Infinity if it has nothing to send. */
  get readyAtMs(): number {
    const dueAtMs = this.queue.first?.dueAtMs ?? this.storedDueAtMs;
    return Math.max(dueAtMs, allowedFromMs(this.state), this.blockedUntilMs);
  }

  /** The next result of the lane writes its state. The state of a closed lane belongs to another owner. */
  get mustStoreState(): boolean {
    return this.state !== this.storedState && this.isOpen && !this.adoptsState;
  }

  /** Storage has this state: it was written or read. */
  stateStored(stored: LaneState): void {
    this.storedState = isSameLaneState(stored, this.state) ? this.state : stored;
  }

  /** Updates the window and the history after a request. Call it before the state is updated. */
  learn(durationMs: number, succeeded: boolean, nowMs: number): void {
    if (durationMs > quickMs) this.#goodResponses = 0;
    else if (succeeded && !this.isQuick) this.#goodResponses += 1;
    if (!succeeded) this.window = Math.max(1, this.window >> 1);
    else if (isBreakerOpen(this.state) || allowedFromMs(this.state) > nowMs) this.window = 1;
    else this.window = Math.min(this.window * 2, windowMax);
  }

  /** Resets the history of the receiver, because the callback URL has changed. */
  forgetReceiver(): void {
    this.window = 1;
    this.#goodResponses = goodResponsesToBeQuick;
  }
}

/** A delivery in the memory of this process. */
export class QueuedDelivery {
  readonly lane: Lane;
  readonly delivery: PendingDelivery;
  /** By the steady clock. */
  readonly dueAtMs: number;
  readonly sequence: number;
  /** In flight, being recorded or set aside: must neither be sent again nor dropped. */
  isClaimed = false;
  /** Storage has counted the claim for the next attempt. Required in a recovering lane and by `SuspectRuns`. */
  isCounted = false;
  /** The slot-time charged when its request started. */
  chargedMs = 0;

  constructor(lane: Lane, delivery: PendingDelivery, dueAtMs: number) {
    this.lane = lane;
    this.delivery = delivery;
    this.dueAtMs = dueAtMs;
    this.sequence = Number(delivery.sequence);
  }

  isBefore(other: QueuedDelivery): boolean {
    return this.dueAtMs < other.dueAtMs || (this.dueAtMs === other.dueAtMs && this.sequence < other.sequence);
  }
}
