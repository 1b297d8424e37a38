import type { AttemptCause, AttemptErrorClass, Interceptor } from '@deedwire/webhook-sender';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import type { NextStep } from './classify-attempt.ts';
import type { LaneState } from './lane-state.ts';
import type { LaneTarget } from './lane-target.ts';
import type { LaneMarks, LastAttempt } from './lane-walk.ts';

/**
 * The storage of dispatch. Each call is one statement or one transaction.
 *
 * Every function throws
 *
 * - `StoreUnavailableError` when a later call with the same input can succeed, or this worker was declared dead,
 * - `LockTimeoutError` when another transaction holds a lock on a row of the input.
 *
 * Any other error means that storage refuses the input.
 */
export interface DispatchStorage {
  /** Reads the first deliveries of a lane by due time and sequence. May skip deliveries that are not due yet. */
  refill(lane: SubscriptionId, options: RefillOptions): Promise<Refill>;
  /** Reads the next deliveries that the marks make due, in the order of their ids. Skips those that are due soon anyway. */
  walk(lane: SubscriptionId, options: WalkOptions): Promise<Walk>;
  /** Reads targets. The result contains no subscription that is paused or deleted, or whose account is not at home. */
  targets(lanes: readonly SubscriptionId[]): Promise<ReadonlyMap<SubscriptionId, LaneTarget>>;
  /**
   * Records results, except those whose delivery another transaction has locked. Throws if it refuses one of them: then none is
   * recorded. None is settled if this worker was declared dead.
   */
  settle(batch: readonly Settlement[]): Promise<SettleResults>;
  /**
   * Adds one claim to those of each delivery that is pending and that no other transaction has locked, and returns these
   * deliveries. A call that is repeated adds nothing. Recording an attempt removes the claims of its delivery.
   */
  countClaims(deliveries: readonly ClaimedDelivery[]): Promise<ReadonlySet<DeliveryId>>;
}

export type DeliveryKey = Pick<PendingDelivery, 'subscriptionId' | 'deliveryId'>;

/** A delivery with its claims before the one that is counted. */
export type ClaimedDelivery = Pick<PendingDelivery, 'subscriptionId' | 'deliveryId' | 'claims'>;

export interface ReadOptions {
  /** At least 1. */
  readonly limit: number;
  /** The result ends before the bodies exceed this size. It contains the first delivery whatever its size. */
  readonly bodyBytesMax: number;
  /** Deliveries to skip: in flight, unsettled, or set aside. */
  readonly exclude: readonly DeliveryId[];
}

export interface RefillOptions extends ReadOptions {
  /** Skips deliveries that are due earlier. -Infinity skips none. */
  readonly fromDueAtMs: number;
}

export interface WalkOptions extends ReadOptions {
  readonly marks: LaneMarks;
  /** Skips deliveries up to this id. */
  readonly after: string;
}

export interface Refill {
  readonly deliveries: readonly PendingDelivery[];
  /** When the first delivery after these is due. Null if there is none. */
  readonly nextDueAtMs: number | null;
}

export interface Walk {
  /** With the times at which they are due without the marks. */
  readonly deliveries: readonly PendingDelivery[];
  /** The id of the last delivery that was read. Null if there are no others. */
  readonly readTo: string | null;
  /** One of those that were read failed after `hastenedAtMs`, in a way that ends when the receiver works again. */
  readonly hasFailedSince: boolean;
}

/**
 * `late` and `stale`: the delivery is no longer pending with the number of attempts that this worker read. Storage has recorded
 * a late success. It records no stale result: a failure, or what an earlier call has recorded, whose response was lost.
 * `locked`: nothing was recorded yet.
 */
export type SettleResult = 'settled' | 'late' | 'stale' | 'locked';

/** By settlement and not by id: V8 would keep each string that is a key until the next full collection. */
export type SettleResults = ReadonlyMap<Settlement, SettleResult>;

export interface AttemptRecord {
  /** From 1. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null if no response headers were received. */
  readonly responseStatus: number | null;
  /** Null if a complete response was received. */
  readonly error: AttemptErrorClass | null;
  /** What else is known about a failure. Null if nothing is. */
  readonly detail: AttemptDetail | null;
}

/** The cause of the error, what responded in place of the receiver, or that the response had a `Retry-After` that is not valid. */
export type AttemptDetail = AttemptCause | Interceptor | 'RETRY_AFTER_IGNORED';

/** The result of a delivery, ready to be recorded. */
export interface Settlement {
  readonly delivery: PendingDelivery;
  /** Null if nothing was sent: the delivery exceeded its claim limit and fails, or is postponed because our proxy failed. */
  readonly attempt: AttemptRecord | null;
  readonly next: NextStep;
  /** The delivery was not due: its attempt does not count for its schedule, and a retry starts no earlier than it was due. */
  readonly isHastened: boolean;
  /** What to keep of a failed attempt. Null keeps what is stored: nothing was sent, or the delivery is no longer pending. */
  readonly lastAttempt: LastAttempt | null;
  /** A success after failures, so that deliveries which wait because of failures can be sent. At most once an hour. */
  readonly hastens: boolean;
  /** Null if storage has the state of the lane, or if a later settlement of the same call contains it. */
  readonly laneState: LaneState | null;
  /** Null unless the subscription must be paused. Storage then forgets the state of its lane. */
  readonly pause: PauseReason | null;
  /**
   * The number of the URL that the attempt used. If the URL has changed since, storage neither pauses the subscription
   * nor changes the state of its lane. Null if nothing was sent.
   */
  readonly urlNumber: number | null;
}

export type PauseReason = 'GONE' | 'FAILING';
