import type { AttemptErrorClass } from '@deedwire/webhook-sender';
import type { DeliveryId, SubscriptionId } from '../ids.ts';
import type { NextStep } from './classify-attempt.ts';
import type { LaneState } from './lane-state.ts';
import type { LaneTarget } from './lane-target.ts';
import type { PendingDelivery } from './pending-delivery.ts';

/**
 * All that dispatch needs of storage. Each call is one statement or one transaction.
 *
 * Every function throws
 *
 * - `StoreUnavailableError` when a later call with the same input can succeed,
 * - `LockTimeoutError` when another transaction holds a lock on a row of the input,
 * - `FencedOutError` when this worker was declared dead, so that it may write nothing more.
 *
 * Any other error means that storage refuses the input.
 */
export interface DispatchStorage {
  /** Reads the first deliveries of a lane in the order of due time and sequence. May leave out those that are due later than now. */
  refill(lane: SubscriptionId, options: RefillOptions): Promise<Refill>;
  /** Reads targets. A subscription that is paused or deleted is missing from the result. */
  targets(lanes: readonly SubscriptionId[]): Promise<ReadonlyMap<SubscriptionId, LaneTarget>>;
  /** Records results. Throws if it refuses one of them, and then records none. */
  settle(batch: readonly Settlement[]): Promise<ReadonlyMap<DeliveryId, SettleResult>>;
  /** Adds one take to each delivery. The next recorded attempt sets the takes of its delivery to 0. */
  countClaims(deliveries: readonly DeliveryKey[]): Promise<void>;
}

export type DeliveryKey = Pick<PendingDelivery, 'subscriptionId' | 'deliveryId'>;

export interface RefillOptions {
  /** Deliveries that are due earlier are left out. -Infinity: none. */
  readonly fromDueAtMs: number;
  /** At least 1. */
  readonly limit: number;
  /** The result is cut off before the bodies exceed this size. The first delivery is returned whatever its size. */
  readonly bodyBytesMax: number;
  /** Deliveries to leave out: those in flight, not settled, or set aside. */
  readonly exclude: readonly DeliveryId[];
}

export interface Refill {
  readonly deliveries: readonly PendingDelivery[];
  /** When the first delivery after these is due. Null if there is none. */
  readonly nextDueAtMs: number | null;
}

/**
 * `stale`: the delivery is no longer pending with the attempts that it had when it was read. A success is recorded
 * nevertheless, a failure is not.
 */
export type SettleResult = 'settled' | 'stale';

export interface AttemptRecord {
  /** From 1. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null if no response headers were received. */
  readonly responseStatus: number | null;
  /** Null if a complete response was received. */
  readonly error: AttemptErrorClass | null;
}

/** The result of a delivery, ready to be recorded. */
export interface Settlement {
  readonly delivery: PendingDelivery;
  /** Null if the delivery was given up without an attempt, because it was taken too often. */
  readonly attempt: AttemptRecord | null;
  readonly next: NextStep;
  /** Null if the state of the lane did not change, or if a later settlement of the same call contains it. */
  readonly laneState: LaneState | null;
  /** Null unless the subscription must be paused. The state of its lane is then that of a receiver that has not failed. */
  readonly pause: PauseReason | null;
  /**
   * The number of the URL that the attempt used. If the subscription has another URL by now, it is not paused, and the state of
   * its lane does not change. Null if nothing was sent.
   */
  readonly urlNumber: number | null;
}

export type PauseReason = 'GONE' | 'FAILING';
