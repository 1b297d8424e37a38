// Found by a registered symbol, not by `instanceof`: an application can end up with two copies of this package.
const verificationBrand = Symbol.for('@deedwire/webhook-signing/WebhookVerificationError');
const usageBrand = Symbol.for('@deedwire/webhook-signing/WebhookUsageError');

/**
 * Why a request is not an authentic, fresh webhook.
 *
 * - `SIGNATURE_MISSING`: the request carries the headers of neither scheme.
 * - `HEADER_MISSING`: a scheme is there in part; a proxy may have dropped a header.
 * - `HEADER_MALFORMED`: a header's value has not the form that it is always sent in, or is there more than once.
 * - `TIMESTAMP_CONFLICT`: the two schemes name different times.
 * - `TIMESTAMP_TOO_OLD`, `TIMESTAMP_TOO_NEW`: outside the tolerance; a replay, or a clock that is wrong.
 * - `SIGNATURE_MISMATCH`: no secret that was passed made the signature for this body.
 */
export type WebhookVerificationErrorCode =
  | 'HEADER_MALFORMED'
  | 'HEADER_MISSING'
  | 'SIGNATURE_MISMATCH'
  | 'SIGNATURE_MISSING'
  | 'TIMESTAMP_CONFLICT'
  | 'TIMESTAMP_TOO_NEW'
  | 'TIMESTAMP_TOO_OLD';

/** The request must not be trusted: answer it with a 4xx status. The message never holds a secret or a signature. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookVerificationErrorCode;

  constructor(code: WebhookVerificationErrorCode, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, verificationBrand, { value: true });
  }

  /** True also for an error thrown by another installed copy of this package, where `instanceof` is false. */
  static isInstance(value: unknown): value is WebhookVerificationError {
    return hasBrand(value, verificationBrand);
  }
}

/** Which argument of the call was wrong. */
export type WebhookUsageErrorCode =
  | 'BODY_NOT_RAW'
  | 'HEADERS_INVALID'
  | 'ID_INVALID'
  | 'NOW_INVALID'
  | 'SECRET_INVALID'
  | 'TIMESTAMP_INVALID'
  | 'TOLERANCE_INVALID';

/** The call is wrong, whatever the request: fix the code or the configuration that makes it. Never a 4xx. */
export class WebhookUsageError extends TypeError {
  override readonly name = 'WebhookUsageError';
  readonly code: WebhookUsageErrorCode;

  constructor(code: WebhookUsageErrorCode, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, usageBrand, { value: true });
  }

  /** True also for an error thrown by another installed copy of this package, where `instanceof` is false. */
  static isInstance(value: unknown): value is WebhookUsageError {
    return hasBrand(value, usageBrand);
  }
}

function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true;
}
