import { ShortLivedMap } from '@deedwire/store';
import type { HeapNode } from '../kernel/heap.ts';
import { type AccountId, type DeliveryId, type SubscriptionId, type Shard, shardOf } from '../kernel/ids.ts';
import { OwnClaims } from '../kernel/own-claims.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import { LaneQueue } from './lane-queue.ts';
import { LaneReceiver } from './lane-receiver.ts';
import { LaneSource } from './lane-source.ts';
import { shiftLaneState } from './lane-state.ts';
import { type LaneTarget, TargetCache } from './lane-target.ts';
import { LaneWalk } from './lane-walk.ts';
import { SlotAccount, SlotLane } from './slots.ts';

/** The maximum number of deliveries in flight or unsettled per lane. A refill excludes their ids, and those of hastened ones. */
const unfinishedMax = 64;

/**
 * A lane stops after storage refused this many of its results, because the receiver may get each of these deliveries again.
 */
const setAsideMax = 16;

/** An account with lanes in the memory of this process. */
export class Account extends SlotAccount {
  readonly id: AccountId;
  readonly shard: Shard;
  /** How many lanes of this account are in memory. */
  lanes = 0;
  /** How many deliveries wait in the queues of its lanes, without hastened ones. Written by `Memory` only. */
  queued = 0;

  constructor(id: AccountId) {
    super();
    this.id = id;
    this.shard = shardOf(id);
  }
}

/** The node of a lane in the heap of wake-ups. The heaps of `Slots` contain the lane itself. */
export interface WakeNode extends HeapNode {
  readonly lane: Lane;
}

export type LanePhase = 'new' | 'loading' | 'open' | 'pausing' | 'closed';

/**
 * One subscription in the memory of this process. It holds the first deliveries of the subscription, in order; the rest are
 * in storage only. Times are by the steady clock.
 *
 * | phase   | the lane                                         | opened, reloaded | changed | target read | result pauses | closed |
 * | ------- | ------------------------------------------------ | ---------------- | ------- | ----------- | ------------- | ------ |
 * | new     | sends nothing                                    | loading          |         |             |               |        |
 * | loading | waits for its target and the stored state        | loading          | loading | open        | pausing       | closed |
 * | open    | sends                                            | loading          | loading | open        | pausing       | closed |
 * | pausing | ignores new deliveries until the pause is stored | loading          |         |             |               | closed |
 * | closed  | sends nothing, records the results in flight     | loading          |         |             |               | closed |
 *
 * When the pause is recorded, the lane is reloaded: reading its target shows whether the subscription is paused. A lane that
 * was opened after an expired lease is also recovering until its first result: it sends one counted request at a time.
 */
export class Lane extends SlotLane {
  readonly id: SubscriptionId;
  override readonly account: Account;
  readonly wake: WakeNode = { lane: this, heapKey: 0, heapOrder: 0, heapIndex: -1 };

  readonly queue = new LaneQueue<QueuedDelivery>();
  /** What marks make due before its time. It is sent while nothing else is due. Null in most lanes. */
  hastened: LaneQueue<QueuedDelivery> | null = null;
  /** All deliveries of the lane in this process: queued, suspicious (see `SuspectRuns`), or claimed. */
  readonly known = new ShortLivedMap<DeliveryId, QueuedDelivery>();
  readonly source = new LaneSource();
  readonly walk = new LaneWalk();
  readonly target: TargetCache;
  readonly receiver = new LaneReceiver();
  /** Of deliveries that were not started since. */
  readonly #ownClaims = new OwnClaims<DeliveryId>();

  #phase: LanePhase = 'new';
  #isRecovering = false;
  /** False while its marks are known to be so old that they need not be read. */
  #mayBeMarked = true;
  #blockedUntilMs = -Infinity;
  #setAside = 0;

  /** Deliveries whose result is not recorded yet. Written by `ResultRecorder`. */
  unsettled = 0;
  /** The sequence of calls that records the results of the lane. Does not change while any are unsettled. */
  settleSequence = 0;

  constructor(id: SubscriptionId, account: Account, targetMaxAgeMs: number) {
    super();
    this.target = new TargetCache(targetMaxAgeMs);
    this.id = id;
    this.account = account;
  }

  get phase(): LanePhase {
    return this.#phase;
  }

  /** Opened after an expired lease, without a result since. */
  get isRecovering(): boolean {
    return this.#isRecovering;
  }

  get isQuick(): boolean {
    return this.receiver.isQuick;
  }

  /** Whether its receiver has probably kept a connection open: its last request succeeded. */
  get hasConnection(): boolean {
    return this.hasEnded && this.receiver.state.consecutiveFailures === 0;
  }

  /** Whether the lane may have another request in flight. While it recovers, one at a time. */
  get hasCapacity(): boolean {
    if (this.#isRecovering && this.unsettled > 0) return false;
    const limit = this.#isRecovering ? 1 : this.receiver.window;
    return this.inFlight < limit && this.inFlight + this.unsettled < unfinishedMax && this.#setAside < setAsideMax;
  }

  /** Whether the lane holds deliveries that it will send. */
  get isSending(): boolean {
    return this.#phase === 'open' || this.#phase === 'loading';
  }

  /** Nothing would be lost if the lane were evicted, except the history of its receiver. */
  get isIdle(): boolean {
    return this.isSending && this.known.size === 0 && this.source.dueAtMs === Infinity;
  }

  /** Closed, and all of its results are recorded. */
  get isDone(): boolean {
    return this.#phase === 'closed' && this.known.size === 0;
  }

  /** When the lane can start a request or a read. Infinity if it has nothing to send. */
  get readyAtMs(): number {
    // What is dropped from memory can be due before the first one of the queue.
    const dueAtMs = Math.min(this.queue.first?.dueAtMs ?? Infinity, this.source.dueAtMs);
    // A mark can make deliveries due that wait for their retry. While the lane loads, its marks are not known.
    const mayBeHastened = (this.#phase === 'loading' && this.#mayBeMarked) || this.walk.after !== null;
    const isReady = this.hastened?.first !== undefined || (mayBeHastened && dueAtMs !== Infinity);
    return Math.max(isReady ? -Infinity : dueAtMs, this.allowedFromMs);
  }

  /**
   * When the breaker, `Retry-After` and `blockUntil` allow the next request. While the lane loads, the stored state decides,
   * which can be that of a new URL.
   */
  get allowedFromMs(): number {
    if (this.#phase === 'loading') return this.#blockedUntilMs;
    return Math.max(this.receiver.allowedFromMs, this.#blockedUntilMs);
  }

  /** The next result of the lane must store its state. The state of a closed lane belongs to another owner. */
  get mustStoreState(): boolean {
    return this.#phase === 'open' && !this.receiver.isStored;
  }

  /** The lane is opened without deliveries in storage. */
  openEmpty(): void {
    this.enter('loading');
  }

  /** The queue of the delivery that is next. Undefined if nothing in memory is due. */
  dueQueue(nowMs: number): LaneQueue<QueuedDelivery> | undefined {
    if ((this.queue.first?.dueAtMs ?? Infinity) <= nowMs) return this.queue;
    return this.hastened?.first && this.hastened;
  }

  /** The lane is opened, or its deliveries in memory may differ from storage. */
  reload(mayBeMarked: boolean): void {
    this.#forget();
    this.source.reset();
    this.reread();
    this.#mayBeMarked = mayBeMarked;
  }

  /** The last owner died. */
  takeOver(): void {
    this.#isRecovering = true;
  }

  /** The target and the stored state may have changed. */
  reread(): void {
    this.target.expire();
    this.#mayBeMarked = true;
    this.#blockedUntilMs = -Infinity;
    this.enter('loading');
  }

  /**
   * @param offsetMs steady time minus the time of the database
   * @returns false if the target cannot be used
   */
  useTarget(target: LaneTarget, nowMs: number, offsetMs: number): boolean {
    const stored = shiftLaneState(target.state, offsetMs);
    const isOtherUrl = this.target.isOtherUrl(target);
    if (isOtherUrl) this.receiver.changeUrl();
    if (isOtherUrl || this.#phase === 'loading') this.receiver.adoptState(stored);
    else this.receiver.noteStored(stored);
    this.walk.use(target.marks, nowMs - offsetMs);
    this.receiver.allowProbe(target.marks.sendPendingAtMs, nowMs, offsetMs);
    this.enter('open');
    return this.target.read(target, nowMs, offsetMs);
  }

  /**
   * A delivery that was read from storage. A claim that this process has counted without a request since is not counted again,
   * however often the lane is reloaded: at the limit, a delivery fails.
   */
  queuedOf(delivery: PendingDelivery, dueAtMs: number, isHastened = false): QueuedDelivery {
    const { claims, deliveryId } = delivery;
    const others = this.#ownClaims.without(deliveryId, claims.length);
    if (others === claims.length) return new QueuedDelivery(this, delivery, dueAtMs, isHastened);
    const queued = new QueuedDelivery(this, { ...delivery, claims: claims.slice(0, others) }, dueAtMs, isHastened);
    queued.isCounted = true;
    return queued;
  }

  /** The delivery, which is in no queue, is in storage only. */
  drop({ delivery: { deliveryId }, dueAtMs, isHastened }: QueuedDelivery): void {
    this.known.delete(deliveryId);
    this.source.noteLeft(dueAtMs);
    if (isHastened) this.walk.noteLeft(deliveryId);
  }

  /** Storage is about to count the claim of the delivery. */
  countClaim({ delivery }: QueuedDelivery): void {
    this.#ownClaims.count(delivery.deliveryId, delivery.claims.length);
  }

  /** The request of a delivery whose claim is counted starts. */
  startCounted({ delivery }: QueuedDelivery): void {
    this.#ownClaims.forget(delivery.deliveryId);
  }

  /** A result pauses the subscription, and is not recorded yet. */
  beginPause(): void {
    this.#forget();
    this.walk.reset();
    this.enter('pausing');
  }

  /** The next owner, or this process when it opens the lane again, sends what was set aside. */
  close(): void {
    this.#forget();
    for (const queued of this.known.values()) if (queued.isSetAside) this.known.delete(queued.delivery.deliveryId);
    this.#setAside = 0;
    this.walk.reset();
    this.#ownClaims.clear();
    this.enter('closed');
  }

  /** Nothing starts before this time, because storage, the secret or our proxy failed. */
  blockUntil(untilMs: number): void {
    this.#blockedUntilMs = untilMs;
  }

  /** The result of an attempt is recorded or found locked, so that the delivery did not end the process. */
  endRecovery(): void {
    this.#isRecovering = false;
  }

  /**
   * Storage refused the result of the delivery, which stays claimed until the lane closes. Returns whether the lane stops
   * because of it.
   */
  setAside(queued: QueuedDelivery): boolean {
    if (this.#phase === 'closed') {
      this.known.delete(queued.delivery.deliveryId);
      return false;
    }
    queued.isSetAside = true;
    this.#setAside += 1;
    return this.#setAside === setAsideMax;
  }

  // Not private, so that a test can observe each transition.
  protected enter(phase: LanePhase): void {
    this.#phase = phase;
  }

  /** The deliveries that are not claimed belong to storage again, and the others once they are. Their queues must be empty. */
  #forget(): void {
    for (const queued of this.known.values()) {
      if (queued.isClaimed) queued.isOutdated = true;
      else this.drop(queued);
    }
    this.source.call.cancel();
    this.target.call.cancel();
  }
}

/** A delivery in the memory of this process. */
export class QueuedDelivery {
  readonly lane: Lane;
  readonly delivery: PendingDelivery;
  /** By the steady clock. Without marks. */
  readonly dueAtMs: number;
  readonly sequence: number;
  /** It holds a slot, is being recorded or set aside: must neither be sent again nor dropped. */
  isClaimed = false;
  /** Its lane was reloaded since it was claimed. Its payload may be erased, so a retry reads it again. */
  isOutdated = false;
  /** Storage refused its result. */
  isSetAside = false;
  /** A mark makes it due before its time. */
  isHastened: boolean;
  /** Storage has counted the claim for the next attempt. Required in a recovering lane and of a suspect. */
  isCounted = false;
  /** The slot-time charged when its request started. */
  chargedMs = 0;
  /** That of its request. */
  timeoutMs = 0;

  constructor(lane: Lane, delivery: PendingDelivery, dueAtMs: number, isHastened = false) {
    this.lane = lane;
    this.delivery = delivery;
    this.dueAtMs = dueAtMs;
    this.isHastened = isHastened;
    this.sequence = Number(delivery.sequence);
  }

  /** Whether it is before another one of its queue: what is hastened is sent oldest first. */
  isBefore(other: QueuedDelivery): boolean {
    if (this.isHastened) return this.sequence < other.sequence;
    return this.dueAtMs < other.dueAtMs || (this.dueAtMs === other.dueAtMs && this.sequence < other.sequence);
  }
}
