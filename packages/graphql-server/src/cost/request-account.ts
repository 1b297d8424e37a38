import type { AuthenticatedClient } from '@deedwire/auth';
import { bodyCost, type ReadingCostLimits } from '@deedwire/operation-analysis';
import { ClientGoneError } from '../errors/request-error.ts';
import type { Admission, BucketStatus, CostBuckets, Rejection, ThrottleStatus } from './bucket.ts';
import type { ClientSlots, ClientTurns, EndTurn } from './client-slots.ts';
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

/** What the clients of a process share. */
export interface SharedByClients {
  buckets: CostBuckets;
  turns: ClientTurns;
  /** For operations that run. */
  slots: ClientSlots;
  limits: ReadingCostLimits;
}

/** What one request uses of its client's share: points, a turn to read a document, and a slot to run an operation. */
export class RequestAccount {
  readonly #shared: SharedByClients;
  readonly #client: AuthenticatedClient;
  readonly #request: { isOpen(): boolean };
  #isCharged = false;
  #refusal: Rejection | undefined;
  /** Ends the charge that can be refunded. */
  #endCharge: (() => void) | undefined;

  /** @param request tells whether the client still waits for the response */
  constructor(shared: SharedByClients, client: AuthenticatedClient, request: { isOpen(): boolean }) {
    this.#shared = shared;
    this.#client = client;
    this.#request = request;
  }

  /** Resolves when the client may occupy the process with a new document. */
  turn(): Promise<EndTurn> {
    return this.#shared.turns(this.#client.clientId);
  }

  /**
   * Returns a function that leaves the slot, once the client may run the operation.
   *
   * @throws {RequestError} if others of its operations run for too long, or the client has gone.
   */
  slot(): (() => void) | Promise<() => void> {
    const leave = this.#shared.slots(this.#client.clientId);
    return leave instanceof Promise
      ? leave.then((later) => this.#leaveUnlessOpen(later))
      : this.#leaveUnlessOpen(leave);
  }

  #leaveUnlessOpen(leave: () => void): () => void {
    if (this.#request.isOpen()) return leave;
    leave();
    throw new ClientGoneError();
  }

  /**
   * Charges a document or an operation. An operation does not wait for the refund of its own document.
   *
   * @param retryPoints what a retry costs. Defaults to `points`.
   * @throws {RequestError} if the bucket holds fewer points.
   */
  charge(what: 'document' | 'operation', points: number, retryPoints = points): void | Promise<void> {
    this.#isCharged = true;
    this.end();
    const settle = (admission: Admission): void => {
      if (!admission.admitted) this.#refuse(what, retryPoints, admission);
      this.#endCharge = admission.end;
    };
    const { clientId, costLimit } = this.#client;
    const admission = this.#shared.buckets.charge(clientId, costLimit, points, retryPoints);
    return admission instanceof Promise ? admission.then(settle) : settle(admission);
  }

  /** @throws {RequestError} if the client is known to have no points. */
  checkPoints(): Promise<void> | undefined {
    const { clientId, costLimit } = this.#client;
    return this.#shared.buckets
      .knownRejection(clientId, costLimit, 1)
      ?.then((rejection) => (rejection === null ? undefined : this.#refuse('request', 1, rejection)));
  }

  #refuse(what: 'document' | 'operation' | 'request', points: number, rejection: Rejection): never {
    this.#refusal = rejection;
    throw rateLimitedError(what, points, this.#shared.limits.operationCostPoints, rejection);
  }

  /** Takes points even if the bucket holds fewer. */
  deduct(points: number): void {
    this.#shared.buckets.deduct(this.#client.clientId, this.#client.costLimit, points);
  }

  /** Charges a request that the client caused to fail before anything was charged. Its body was read for nothing. */
  deductFailure(bodyBytes: number): void {
    if (!this.#isCharged) this.deduct(bodyCost(bodyBytes, this.#shared.limits));
  }

  /** Returns points of the last charge, which ends with it. */
  refund(points: number): ThrottleStatus {
    const status = this.#shared.buckets.refund(this.#client.clientId, this.#client.costLimit, points);
    this.end();
    return status;
  }

  /** Closes the last charge. Charges of the client's other requests do not wait for its refund any longer. */
  end(): void {
    this.#endCharge?.();
    this.#endCharge = undefined;
  }

  /** Whether the request was refused because the client has too few points. */
  isRefused(): boolean {
    return this.#refusal !== undefined;
  }

  status(): BucketStatus {
    return this.#shared.buckets.status(this.#client.clientId, this.#client.costLimit);
  }

  /** The bucket when the request was refused because of it. Otherwise the bucket as it is. */
  throttleStatus(): ThrottleStatus {
    if (this.#refusal) return this.#refusal.throttleStatus;
    const { nextPointMs: _, ...throttleStatus } = this.status();
    return throttleStatus;
  }
}
