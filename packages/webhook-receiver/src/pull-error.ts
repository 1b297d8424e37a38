/**
 * Why a run ended with an error.
 *
 * - `CURSOR_EXPIRED`: events after the watermark are no longer kept. `from: 'earliest'` goes on after the gap.
 * - `SEQUENCE_GAP`: the answers of the server leave out a sequence, or repeat one. Nothing of that page was processed.
 * - `STORE_FORGETS`: the server keeps more than the store remembers. Pass `from: { since }`.
 * - `STORE_UNSUPPORTED`: the store or the inbox cannot hold a position.
 * - `SUBSCRIPTION_NOT_FOUND`: the client has no such subscription.
 * - `REFUSED`: the server refused the request. The message contains its code.
 * - `RESPONSE_INVALID`: five responses in a row were not those of the API.
 * - `UNAVAILABLE`: the API or the store was unavailable until `timeoutMs`.
 * - `CLOSED`: the receiver was closed before.
 */
export type PullErrorCode =
  | 'CLOSED'
  | 'CURSOR_EXPIRED'
  | 'REFUSED'
  | 'RESPONSE_INVALID'
  | 'SEQUENCE_GAP'
  | 'STORE_FORGETS'
  | 'STORE_UNSUPPORTED'
  | 'SUBSCRIPTION_NOT_FOUND'
  | 'UNAVAILABLE';

// `isInstance` checks a registered symbol because `instanceof` is false across two installed copies of this package.
const brand = Symbol.for('@deedwire/webhook-receiver/PullError');

/** A run could not go on. What it processed before is recorded. */
export class PullError extends Error {
  override readonly name = 'PullError';
  /** More may be added. */
  readonly code: PullErrorCode;
  /** The sequences that are lost, with `CURSOR_EXPIRED`. `to` is null if nothing is kept. Otherwise null. */
  readonly gap: { readonly from: number; readonly to: number | null } | null;

  constructor(
    code: PullErrorCode,
    message: string,
    { gap = null, ...options }: { gap?: PullError['gap']; cause?: unknown } = {},
  ) {
    super(`${code}: ${message}`, options);
    this.code = code;
    this.gap = gap;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Also true for an error from another installed copy of this package, for which `instanceof` is false. */
  static isInstance(value: unknown): value is PullError {
    return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true;
  }
}

/** A request that failed and can be repeated. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
  /** The least time before it is repeated. */
  readonly afterMs: number;
  /** `limit`: the bucket of the client is empty. `invalid`: the response was not one of the API. */
  readonly kind: 'invalid' | 'limit' | 'unavailable';

  constructor(kind: TransientError['kind'], message: string, afterMs = 0, options?: { cause: unknown }) {
    super(message, options);
    this.kind = kind;
    this.afterMs = afterMs;
  }
}

/** With what the error says. The caller knows which sequences are lost. */
export class CursorExpired extends Error {
  readonly firstKeptSequence: number | null;

  constructor(firstKeptSequence: number | null) {
    super('The event after the cursor is no longer kept.');
    this.firstKeptSequence = firstKeptSequence;
  }
}
