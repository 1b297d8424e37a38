import type { DeliveryId, SubscriptionId } from '../ids.ts';
import type { Account } from './account.ts';
import { isBreakerOpen } from './breaker.ts';
import type { HeapNode } from './heap.ts';
import { LaneQueue } from './lane-queue.ts';
import { allowedFromMs, cleanLaneState, type LaneState } from './lane-state.ts';
import type { SendableTarget } from './lane-target.ts';
import type { PendingDelivery } from './pending-delivery.ts';
import { SlotLane } from './slots.ts';

/** How many requests one receiver gets at the same time. */
const windowMax = 16;

/** A lane with more deliveries in flight or not settled starts nothing. Bounds the list that a refill excludes. */
const unfinishedMax = 64;

/** A lane stops when storage has refused this many of its results, so that its receiver does not get all of them again. */
export const setAsideMax = 16;

const quickMs = 500;
const goodResponsesToBeQuick = 20;

/** The node of a lane in the heap of wake-ups. In the heaps of the slots, the lane itself is the node. */
export interface WakeNode extends HeapNode {
  readonly lane: Lane;
}

/**
 * One subscription in the memory of this process. It holds the first deliveries of the subscription, in order; the rest are
 * in storage only. Times are those of the steady clock.
 */
export class Lane extends SlotLane {
  readonly id: SubscriptionId;
  override readonly account: Account;
  readonly wake: WakeNode = { lane: this, heapKey: 0, heapIndex: -1 };

  readonly queue = new LaneQueue<QueuedDelivery>();
  /** All deliveries of the lane that this process has: in the queue, waiting to run alone, or taken. */
  readonly known = new Map<DeliveryId, QueuedDelivery>();
  /** When the first delivery that is in storage only is due, or earlier. Infinity if the queue is complete. */
  storedDueAtMs = Infinity;
  /** A refill is requested or in flight. The queue is empty, and nothing is added to it. */
  isRefilling = false;
  /** When the first delivery is due that the refill in flight may have missed. Infinity if there is none. */
  missedDueAtMs = Infinity;

  /** When the lane was last read from its start. -Infinity: the next refill must do so. */
  readWholeAtMs = -Infinity;

  isOpen = false;
  /** Incremented when the lane is opened or closed. What was read for an earlier epoch is ignored. */
  epoch = 0;
  /** A settlement that pauses the subscription is not written yet, so storage would still return a target. */
  isPausing = false;

  target: SendableTarget | null = null;
  targetReadAtMs = -Infinity;
  isReadingTarget = false;
  /** Incremented when the target may have changed. A target that was read for an earlier epoch is ignored. */
  targetEpoch = 0;
  /** The next target replaces the state of the lane. */
  adoptsState = true;
  state: LaneState = cleanLaneState;
  /** Nothing starts before this time, because the target or the deliveries cannot be read. */
  blockedUntilMs = -Infinity;

  /** How many requests may be in flight while the breaker is closed. */
  window = 1;
  #goodResponses = goodResponsesToBeQuick;
  /** Deliveries whose result is not settled. Written by the settler. */
  unsettled = 0;
  /** Which sequence of calls settles the results of the lane. Does not change while any are unsettled. */
  settleSequence = 0;
  /** Deliveries whose result storage refused. They stay known and taken. */
  setAside = 0;

  /** The lane was opened after an expired lease and has settled nothing since. */
  isRecovering = false;
  /** The take of its first delivery is being counted. */
  isCounting = false;

  constructor(id: SubscriptionId, account: Account) {
    super();
    this.id = id;
    this.account = account;
  }

  /** No request took more than 500 ms since the last 20 successes. A lane without history is quick. */
  get isQuick(): boolean {
    return this.#goodResponses >= goodResponsesToBeQuick;
  }

  /** Whether another request may be in flight. While the breaker is open, one at a time. */
  get hasCapacity(): boolean {
    if (this.isRecovering && this.unsettled > 0) return false;
    const limit = isBreakerOpen(this.state) || this.isRecovering ? 1 : this.window;
    return this.inFlight < limit && this.inFlight + this.unsettled < unfinishedMax && this.setAside < setAsideMax;
  }

  /** Open, and nothing of it is in memory or in storage. */
  get isIdle(): boolean {
    return this.isOpen && this.known.size === 0 && this.storedDueAtMs === Infinity;
  }

  /** When the lane can start a request or a refill. Infinity if it has nothing to send. */
  get readyAtMs(): number {
    const dueAtMs = this.queue.first?.dueAtMs ?? this.storedDueAtMs;
    return Math.max(dueAtMs, allowedFromMs(this.state), this.blockedUntilMs);
  }

  /** Updates the window and the history after a request. To be called before the state is updated. */
  learn(durationMs: number, succeeded: boolean, nowMs: number): void {
    if (durationMs > quickMs) this.#goodResponses = 0;
    else if (succeeded && !this.isQuick) this.#goodResponses += 1;
    if (!succeeded) this.window = Math.max(1, this.window >> 1);
    else if (isBreakerOpen(this.state) || allowedFromMs(this.state) > nowMs) this.window = 1;
    else this.window = Math.min(this.window * 2, windowMax);
  }

  /** Forgets what was learned about another callback URL. */
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
  /** It is in flight, being settled or set aside, so that it must neither be sent again nor be forgotten. */
  isClaimed = false;
  /** Its next attempt is counted in storage, which happens only after an expired lease. */
  isCounted = false;
  /** The slot-time that its request was charged when it started. */
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
