import type { CostLimit } from '@deedwire/auth';

/** The state of a client's bucket, as `extensions.cost.throttleStatus` publishes it. */
export interface ThrottleStatus {
  /** The points of a full bucket. */
  maximumAvailable: number;
  /** The points left, rounded down; at least 0. */
  currentlyAvailable: number;
  /** Points per second. */
  restoreRate: number;
}

export interface BucketStatus extends ThrottleStatus {
  /** The time until another point is available, if nothing is charged meanwhile. At least 1. */
  nextPointMs: number;
}

export type Admission = Charge | Rejection;

export interface Charge {
  admitted: true;
  throttleStatus: ThrottleStatus;
  /** States that no refund of this charge will come: other charges wait for one. Call it once. */
  end: () => void;
}

export interface Rejection {
  admitted: false;
  throttleStatus: ThrottleStatus;
  /** The time until the bucket holds the points that a retry costs, if nothing else is charged meanwhile. At least 1. */
  retryAfterMs: number;
}

/**
 * The points of every API client. A full bucket holds at least the points of the most expensive operation
 * (`operationCostPoints`), so that every operation is admitted after some time.
 *
 * Every call applies the limit of the client, as it was read with the key of its request.
 */
export interface CostBuckets {
  /** Returns the state of a client's bucket. */
  status(clientId: string, limit: CostLimit): BucketStatus;
  /**
   * Takes the points of an operation before it runs, or takes nothing if the bucket holds fewer, even after a short wait for
   * refunds of earlier charges.
   *
   * @param points a positive integer
   * @param retryPoints what a retry costs. Defaults to `points`.
   * @throws {StoreUnavailableError} if the shared bucket does not respond, and the process may spend no more points in advance.
   */
  charge(clientId: string, limit: CostLimit, points: number, retryPoints?: number): Charge | Promise<Admission>;
  /**
   * The rejection of a charge, if it is known without asking the database, and no refund came after a short wait. Null if it is
   * not.
   */
  knownRejection(clientId: string, limit: CostLimit, points: number): null | Promise<Rejection | null>;
  /**
   * Takes points for work that was done before its price was known. If the bucket holds fewer, it owes the rest, and admits nothing
   * until it has regained them.
   *
   * @param points a whole number
   */
  deduct(clientId: string, limit: CostLimit, points: number): void;
  /**
   * Returns the points of a charge that the operation did not use. Does not fill the bucket above its maximum. The
   * result is the state afterwards.
   *
   * @param points a whole number from 0 to the points of the charge
   */
  refund(clientId: string, limit: CostLimit, points: number): ThrottleStatus;
  /** Returns unused points of idle clients, and evicts these clients. Call it about once a second. */
  sweep(): void;
}
