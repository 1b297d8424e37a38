/** Why a request was not processed. More codes may be added. */
export type WebhookResponseCode =
  /** Not `POST`. */
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_TOO_LARGE'
  /** A parser of the framework read the body first. The log says how to fix it. */
  | 'BODY_NOT_RAW'
  | 'BODY_ABORTED'
  | 'BODY_TIMEOUT'
  /** There are no secrets, and the request is not a handshake. */
  | 'SECRET_MISSING'
  /** The secrets could not be loaded, or one is malformed. The log says which. */
  | 'SECRET_INVALID'
  /** Authentic, but without `webhook-id`, so that repeats could not be recognized. */
  | 'ID_MISSING'
  /** Not a body that Deedwire sends. */
  | 'BODY_MALFORMED'
  /** No handler for this type and version, and `rejectUnhandled` is set. */
  | 'UNHANDLED'
  /** Another request with the same id is being processed. */
  | 'BUSY'
  | 'HANDLER_FAILED'
  | 'STORE_UNAVAILABLE'
  /** The receiver is closed. */
  | 'CLOSING';

/** A response as every platform can write it. */
export interface ReceiverResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

export function ok(content: object, status: 200 | 202 = 200): ReceiverResponse {
  return { status, headers, body: JSON.stringify(content) };
}

/** @param code a code of this package, or why the signature is not accepted */
export function refusal(status: number, code: string, more: Readonly<Record<string, string>> = {}): ReceiverResponse {
  return { status, headers: { ...headers, ...more }, body: JSON.stringify({ code }) };
}
