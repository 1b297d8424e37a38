/**
 * The reason why an attempt did not receive a complete response.
 *
 * - `ADDRESS_FORBIDDEN`: the callback policy does not allow the URL or an address that its host name resolves to.
 * - `DNS_FAILED`: the host name has no address, or its name servers did not respond.
 * - `CONNECTION_FAILED`: the TCP connection failed, or ended before the response was complete.
 * - `TLS_FAILED`: no connection with TLS 1.2 or later and a valid certificate for the host name was possible.
 * - `PROTOCOL_ERROR`: the response is not HTTP/1.1 within the size limits, or the request cannot be written as HTTP.
 * - `TIMEOUT`: the deadline passed, at any step.
 */
export type AttemptErrorClass = (typeof attemptErrorClasses)[number];

export const attemptErrorClasses = [
  'ADDRESS_FORBIDDEN',
  'CONNECTION_FAILED',
  'DNS_FAILED',
  'PROTOCOL_ERROR',
  'TIMEOUT',
  'TLS_FAILED',
] as const;

/** `message` is shown to the owner of the receiver. It must not contain a secret or a private address. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly code: AttemptErrorClass;
  /** Null if the attempt failed before the response headers were complete. */
  readonly responseStatus: number | null;

  constructor(
    code: AttemptErrorClass,
    message: string,
    { responseStatus = null, cause }: { responseStatus?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.responseStatus = responseStatus;
  }
}

/** Returns the `code` of an error of Node or undici, or an empty string if the error has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
