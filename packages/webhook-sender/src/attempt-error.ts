import type { AttemptCause } from './attempt-cause.ts';

/**
 * The reason why an attempt did not receive a complete response.
 *
 * - `CONNECTION_FAILED`: the TCP connection failed, or ended before the response was complete.
 * - `DNS_FAILED`: the host name could not be resolved, or the callback rules allow none of its addresses. They are one
 *   class, because the difference would tell the owner of the receiver which names exist in the internal DNS.
 * - `TLS_FAILED`: no connection with TLS 1.2 or later and a valid certificate for the host name was possible.
 * - `PROTOCOL_ERROR`: the response is not HTTP/1.1 within the size limits, or the request cannot be written as HTTP.
 * - `TIMEOUT`: the deadline passed, at any step. Under the `public` policy, at any step after DNS.
 * - `URL_FORBIDDEN`: the callback rules do not allow the URL, whatever its host name resolves to.
 */
export type AttemptErrorClass = (typeof attemptErrorClasses)[number];

const attemptErrorClasses = [
  'CONNECTION_FAILED',
  'DNS_FAILED',
  'PROTOCOL_ERROR',
  'TIMEOUT',
  'TLS_FAILED',
  'URL_FORBIDDEN',
] as const;

/** Why the host name of a callback URL cannot be called. For the log of the operator: it is never shown to a client. */
export interface HostProblem {
  readonly host: string;
  /** The error code of the resolver, or an address of the host and why it is forbidden. */
  readonly found: string;
}

/** The proxy did not open a tunnel. For the log of the operator: it is never shown to a client. */
export interface ProxyProblem {
  /**
   * True if the proxy could not connect to the receiver or did not answer, so that either of them can be the cause. False if the
   * proxy could not be reached or refused: nothing was asked of the receiver.
   */
  readonly mayBeReceiver: boolean;
  /** The host and port of the proxy, and its status or an error code. It contains no credentials. */
  readonly found: string;
}

/**
 * Why a request failed: any other error of an attempt is a bug. `message` is shown to the owner of the receiver. It must not contain a
 * secret or a private address.
 */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly code: AttemptErrorClass;
  /** Null if it is not known, or must not be shown. */
  readonly attemptCause: AttemptCause | null;
  /** Null if the attempt failed before the response headers were complete. */
  readonly responseStatus: number | null;
  /** Null unless the code is `DNS_FAILED`. */
  readonly hostProblem: HostProblem | null;
  /** Null unless the proxy did not open a tunnel. */
  readonly proxyProblem: ProxyProblem | null;

  constructor(
    code: AttemptErrorClass,
    message: string,
    {
      attemptCause = null,
      responseStatus = null,
      hostProblem = null,
      proxyProblem = null,
      cause,
    }: {
      attemptCause?: AttemptCause | null;
      responseStatus?: number | null;
      hostProblem?: HostProblem | null;
      proxyProblem?: ProxyProblem | null;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.attemptCause = attemptCause;
    this.responseStatus = responseStatus;
    this.hostProblem = hostProblem;
    this.proxyProblem = proxyProblem;
  }
}

/** Whether our code, or a call that it makes, is wrong: neither the network nor the receiver causes such an error. */
export function isBug(error: unknown): boolean {
  return [EvalError, RangeError, ReferenceError, SyntaxError, TypeError].some((each) => error instanceof each);
}

/** Returns the `code` of an error of Node or undici, or an empty string if the error has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
