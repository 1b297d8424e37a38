// `isInstance` checks a registered symbol because `instanceof` is false across two installed copies of this package.
const verificationBrand = Symbol.for('@deedwire/webhook-signing/WebhookVerificationError');
const usageBrand = Symbol.for('@deedwire/webhook-signing/WebhookUsageError');

/**
 * The reason why a request was rejected.
 *
 * - `SIGNATURE_MISSING`: the request has the headers of no scheme that the receiver reads.
 * - `HEADER_MISSING`: the request has some headers of a scheme but not all; a proxy may have dropped one.
 * - `HEADER_MALFORMED`: a header does not have the format that Deedwire sends, or occurs more than once.
 * - `TIMESTAMP_CONFLICT`: the two schemes have different timestamps.
 * - `TIMESTAMP_TOO_OLD`, `TIMESTAMP_TOO_NEW`: the timestamp is outside the tolerance; a replay, or a wrong clock.
 * - `SIGNATURE_MISMATCH`: none of the given secrets produces the signature for this body.
 */
export type WebhookVerificationErrorCode =
  | 'HEADER_MALFORMED'
  | 'HEADER_MISSING'
  | 'SIGNATURE_MISMATCH'
  | 'SIGNATURE_MISSING'
  | 'TIMESTAMP_CONFLICT'
  | 'TIMESTAMP_TOO_NEW'
  | 'TIMESTAMP_TOO_OLD';

/** The request must not be trusted. Respond with a 4xx status. The message never contains a secret or a signature. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookVerificationErrorCode;

  constructor(code: WebhookVerificationErrorCode, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, verificationBrand, { value: true });
  }

  /** Also true for an error from another installed copy of this package, for which `instanceof` is false. */
  static isInstance(value: unknown): value is WebhookVerificationError {
    return hasBrand(value, verificationBrand);
  }
}

/** The argument that is invalid. */
export type WebhookUsageErrorCode =
  | 'BODY_NOT_RAW'
  | 'HEADERS_INVALID'
  | 'ID_INVALID'
  | 'NOW_INVALID'
  | 'PREFIX_INVALID'
  | 'SECRET_INVALID'
  | 'TIMESTAMP_INVALID'
  | 'TOLERANCE_INVALID';

/** The call is invalid, independently of the request. Fix the calling code or its configuration, and respond with a 5xx status. */
export class WebhookUsageError extends TypeError {
  override readonly name = 'WebhookUsageError';
  readonly code: WebhookUsageErrorCode;

  constructor(code: WebhookUsageErrorCode, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, usageBrand, { value: true });
  }

  /** Also true for an error from another installed copy of this package, for which `instanceof` is false. */
  static isInstance(value: unknown): value is WebhookUsageError {
    return hasBrand(value, usageBrand);
  }
}

function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true;
}
