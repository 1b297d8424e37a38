import type { WebhookUsageError, WebhookVerificationError } from '@deedwire/webhook-signing/web';
import type { LogFields, LogLevel } from './log.ts';

/** Why a request was not processed. More codes may be added. */
export type WebhookResponseCode =
  /** Not `POST`. */
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_TOO_LARGE'
  /** A parser of the framework read the body first. The log says how to fix it. */
  | 'BODY_NOT_RAW'
  | 'BODY_ABORTED'
  | 'BODY_TIMEOUT'
  /** There are no secrets. Handshakes are answered nevertheless while `awaitingSecret` is set. */
  | 'SECRET_MISSING'
  /** The secrets could not be loaded, or one is malformed. The log says which. */
  | 'SECRET_INVALID'
  /** Authentic, but without `webhook-id`, so that repeats could not be recognized. Or a pull without the id of its delivery. */
  | 'ID_MISSING'
  /** Not a body that Deedwire sends. */
  | 'BODY_MALFORMED'
  /** No handler for this type and version, and `rejectUnhandled` is set, or `keepUnhandled` has no room. */
  | 'UNHANDLED'
  /** Another request with the same id is being processed. */
  | 'BUSY'
  | 'HANDLER_FAILED'
  | 'STORE_UNAVAILABLE'
  /** The receiver is closed. */
  | 'CLOSING';

/** What became of a request that was not refused, or why it was: for example that its signature does not match. */
export type OutcomeCode =
  | 'ACCEPTED'
  | 'DUPLICATE'
  | 'HANDSHAKE'
  | 'KEPT'
  | 'PROCESSED'
  | WebhookResponseCode
  | WebhookUsageError['code']
  | WebhookVerificationError['code'];

/** A response as every platform can write it. */
export interface ReceiverResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A response, and what the log and the metrics say about it. */
export interface Outcome {
  readonly code: OutcomeCode;
  readonly response: ReceiverResponse;
  /** Undefined if nothing is logged. */
  readonly line?: Pick<LogFields, 'err' | 'problems'> & { readonly level: LogLevel; readonly message: string };
  /** Undefined unless the request is an authentic event. */
  readonly delivery?: { readonly id: string; readonly type: string; readonly version: string };
}

const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

export function ok(code: OutcomeCode, content: object, status: 200 | 202 = 200): Outcome {
  return { code, response: { status, headers, body: JSON.stringify(content) } };
}

interface RefusalDetails extends Pick<LogFields, 'err' | 'problems'> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param message for the log: what is wrong and what to do */
export function refusal(
  status: number,
  code: OutcomeCode,
  message: string,
  { headers: more, ...details }: RefusalDetails = {},
): Outcome {
  // While a process stops, requests are refused as intended.
  const level = status >= 500 && code !== 'CLOSING' ? 'error' : 'warn';
  const response = { status, headers: { ...headers, ...more }, body: JSON.stringify({ code }) };
  return { code, response, line: { level, message, ...details } };
}
