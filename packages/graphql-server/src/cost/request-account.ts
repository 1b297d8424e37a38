import type { AuthenticatedClient } from '@deedwire/auth';
import { bodyCost, type ReadingCostLimits } from '@deedwire/operation-analysis';
import { RequestError } from '../errors/request-error.ts';
import type { Admission, BucketStatus, CostBuckets, Rejection, ThrottleStatus } from './bucket.ts';
import type { ClientSlots } from './client-slots.ts';
import type { ClientTurns, EndTurn } from './client-turns.ts';
import { rateLimitedError } from './rate-limits.ts';

/** The value of `extensions.cost`. */
export interface OperationCost {
  /** The points charged before the operation ran: its price, or those for reading the request if they are more. */
  requestedQueryCost: number;
  /**
   * The points charged in the end: the price of what the response contains, or those for reading the request if they are more.
   * More than `requestedQueryCost` only if texts have characters with several bytes, or resolvers did extra work.
   */
  actualQueryCost: number;
  /** The bucket after the refund. */
  throttleStatus: ThrottleStatus;
}

/** The bucket of the client of one request. */
export interface RequestAccount {
  /** Resolves when the client may occupy the process with a new document. */
  turn(): Promise<EndTurn>;
  /**
   * Returns a function that ends the operation, once the client may run it.
   *
   * @throws {RequestError} if others of its operations run for too long, or the client has gone.
   */
  slot(): (() => void) | Promise<() => void>;
  /** @throws {RequestError} if the bucket holds fewer points. */
  chargeReading(points: number): void | Promise<void>;
  /**
   * @param price what the operation costs if its document is cached
   * @param paid the part of the price that reading the document has paid
   * @throws {RequestError} if the bucket holds fewer points.
   */
  chargeOperation(price: number, paid: number): void | Promise<void>;
  /** Takes points even if the bucket holds fewer. */
  deduct(points: number): void;
  refund(points: number): ThrottleStatus;
  /** Returns points until the operation goes on. Charges of the client's other requests do not wait for it. */
  suspend(points: number): void;
  /** @throws {RequestError} if the client is known to have no points. */
  checkPoints(): Promise<void> | undefined;
  /** The request will not be refunded any points from now on. Charges of the client's other requests do not wait for it. */
  end(): void;
  /** Charges a request that the client caused to fail before anything was charged. Its body was read for nothing. */
  deductFailure(bodyBytes: number): void;
  /** Whether the request was refused because the client has too few points. */
  isRefused(): boolean;
  /** The bucket when the request was refused because of it. Otherwise the bucket as it is. */
  throttleStatus(): ThrottleStatus;
  status(): BucketStatus;
}

/** What the clients of a process share besides points. */
export interface ClientShares {
  turns: ClientTurns;
  /** For operations that run. */
  slots: ClientSlots;
  /** Whether the client still waits for the response. */
  isOpen: () => boolean;
}

export function openRequestAccount(
  buckets: CostBuckets,
  { clientId, costLimit }: AuthenticatedClient,
  limits: ReadingCostLimits,
  { turns, slots, isOpen }: ClientShares,
): RequestAccount {
  let isCharged = false;
  let refusal: Rejection | undefined;
  let endCharge: (() => void) | undefined;

  function refuse(what: 'request' | 'operation' | 'document', points: number, rejection: Rejection): never {
    refusal = rejection;
    throw rateLimitedError(what, points, limits.operationCostPoints, rejection);
  }

  function charge(what: 'operation' | 'document', points: number, retryPoints: number): void | Promise<void> {
    isCharged = true;
    endCharge?.(); // an operation does not wait for the refund of its own document
    endCharge = undefined;
    const settle = (admission: Admission): void => {
      if (!admission.admitted) refuse(what, retryPoints, admission);
      endCharge = admission.end;
    };
    const admission = buckets.charge(clientId, costLimit, points, retryPoints);
    return admission instanceof Promise ? admission.then(settle) : settle(admission);
  }

  async function refuseLater(known: Promise<Rejection | null>): Promise<void> {
    const rejection = await known;
    if (rejection !== null) refuse('request', 1, rejection);
  }

  function leaveUnlessOpen(leave: () => void): () => void {
    if (isOpen()) return leave;
    leave();
    throw new RequestError('SERVICE_UNAVAILABLE');
  }

  return {
    checkPoints() {
      const known = buckets.knownRejection(clientId, costLimit, 1);
      return known === null ? undefined : refuseLater(known);
    },
    turn: () => turns(clientId),
    slot() {
      const leave = slots(clientId);
      return leave instanceof Promise ? leave.then(leaveUnlessOpen) : leaveUnlessOpen(leave);
    },
    chargeReading: (points) => charge('document', points, points),
    chargeOperation: (price, paid) => charge('operation', price - paid, price),
    end() {
      endCharge?.();
      endCharge = undefined;
    },
    deduct: (points) => buckets.deduct(clientId, costLimit, points),
    deductFailure(bodyBytes) {
      if (!isCharged) buckets.deduct(clientId, costLimit, bodyCost(bodyBytes, limits));
    },
    // Not a getter: V8 keeps the getter of a literal, and with it the objects of the request, until the next full collection.
    isRefused: () => refusal !== undefined,
    refund: (points) => buckets.refund(clientId, costLimit, points),
    suspend(points) {
      buckets.refund(clientId, costLimit, points);
      endCharge?.();
      endCharge = undefined;
    },
    throttleStatus() {
      if (refusal) return refusal.throttleStatus;
      const { nextPointMs: _, ...throttleStatus } = buckets.status(clientId, costLimit);
      return throttleStatus;
    },
    status: () => buckets.status(clientId, costLimit),
  };
}
