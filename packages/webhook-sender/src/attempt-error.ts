/**
 * Why an attempt has no complete answer.
 *
 * - `ADDRESS_FORBIDDEN`: the callback policy does not allow the URL, or an address that its name resolves to.
 * - `DNS_FAILED`: the name has no address, or no name server answered.
 * - `CONNECTION_FAILED`: no TCP connection, or it ended before the answer was complete.
 * - `TLS_FAILED`: no TLS connection of version 1.2 or later with a valid certificate for the name.
 * - `PROTOCOL_ERROR`: what came back is not HTTP/1.1 within our limits, or the request cannot be written as HTTP.
 * - `TIMEOUT`: the deadline passed first, at whatever step.
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

/** `message` is for the receiver's owner: it says which step failed and how, and holds no secret and no inner address. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly code: AttemptErrorClass;
  /** null when the failure came before the end of the response's headers */
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

/** The `code` that Node and undici put on their errors; '' where there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
