import type { PullPositions } from './pull-positions.ts';

/**
 * What became of a delivery.
 *
 * - `processed`: the work is done.
 * - `duplicate`: it was done before. The work was not started.
 * - `busy`: another request with the same id is being processed. The work was not started.
 */
export type OnceResult = 'busy' | 'duplicate' | 'processed';

/** Which deliveries to forget: these ids, or all that were processed at this time or later. */
export type Forgettable = { readonly ids: readonly string[] } | { readonly since: Date };

/**
 * Remembers which deliveries have been processed.
 *
 * @typeParam Transaction what handlers get to make their changes in. `undefined` if the store has no transactions.
 */
export interface WebhookStore<Transaction = undefined> {
  /**
   * Does the work unless it was done before for the same id. If the work fails, nothing is remembered, and the error of the work
   * is thrown. Any other error means that the store is unavailable, except `WorkFailedError`.
   *
   * @param id the `key` of a delivery, which is the same on every attempt and after a replay
   * @param work gets a signal that aborts when its changes cannot be kept, because the connection is lost. The reason of the signal
   *   is the error.
   * @param signal aborts when the receiver has responded without the result: the store took too long, or the work did and may
   *   still use the transaction. A store that can close its connection then does so.
   * @param alias a second id, by which the delivery is remembered and recognized too: with `key: 'event.id'`, its `webhook-id`
   * @param again does the work also if it was done before. If it fails, the delivery stays processed
   */
  once(
    id: string,
    work: (transaction: Transaction, lost?: AbortSignal) => Promise<void>,
    signal?: AbortSignal,
    alias?: string,
    again?: boolean,
  ): Promise<OnceResult>;
  /**
   * Lets deliveries be processed again. Call it before a replay: a replayed delivery keeps its id. One that has an alias is
   * forgotten once both ids are.
   *
   * @returns how many were forgotten
   */
  forget(which: Forgettable): Promise<number>;
  /** For `reconcile` and `reprocess`, which refuse a store without it. */
  readonly positions?: PullPositions;
}

// `isInstance` checks a registered symbol because `instanceof` is false across two installed copies of this package.
const workFailedBrand = Symbol.for('@deedwire/webhook-receiver/WorkFailedError');

/** Thrown by a store when the work returned, but what it did in the transaction cannot be committed. */
export class WorkFailedError extends Error {
  override readonly name = 'WorkFailedError';

  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    Object.defineProperty(this, workFailedBrand, { value: true });
  }

  /** Also true for an error from another installed copy of this package, for which `instanceof` is false. */
  static isInstance(value: unknown): value is WorkFailedError {
    return typeof value === 'object' && value !== null && Reflect.get(value, workFailedBrand) === true;
  }
}

/** How long ids are remembered, in milliseconds: 40 days, which is longer than Deedwire can replay a delivery. */
export const rememberedMs = 3_456_000_000;
