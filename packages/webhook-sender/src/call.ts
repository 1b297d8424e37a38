import type { Dispatcher } from 'undici';
import { type AttemptCause, describeCause } from './attempt-cause.ts';
import { AttemptError, type AttemptErrorClass, errorCode, isBug } from './attempt-error.ts';
import type { Deadline } from './attempt-timeouts.ts';
import { type Connection, ResponseSizeError } from './connection-pool.ts';
import { type DetailsPolicy, keptBodyBytes } from './details-policy.ts';
import { errors, headersToWrite } from './undici.ts';

export interface PostRequest {
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Uint8Array;
}

export interface ReceivedResponse {
  readonly status: number;
  /** Lower-case names. The values of a repeated header are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
  /** At most the first 16 kB, as received and not decompressed. */
  readonly body: Buffer;
  /** The number of body bytes that were read. Reading stops at 64 kB, and the connection is closed. */
  readonly bodyBytes: number;
}

type HeaderRecord = Readonly<Record<string, string | string[] | undefined>>;

const noHeaders: HeaderRecord = Object.freeze({});
const maxReadBytes = 64 * 1024;
/** Interim responses (1xx) cost time for as long as they arrive. Servers send a few, for example 103 Early Hints. */
const maxInterimResponses = 16;
/** All bytes of a response: more than the allowed headers, interim responses, and 64 kB of a body in chunks of one byte. */
const maxResponseBytes = 1024 * 1024;

class InterimResponseError extends Error {
  readonly attemptCause: AttemptCause;

  constructor(attemptCause: AttemptCause) {
    super(`The interim response is refused: ${attemptCause}`);
    this.attemptCause = attemptCause;
  }
}

/**
 * One POST request on a connection, until the response body ends or 64 kB of it are read. It creates few objects, because
 * most responses consist of a status only.
 */
export class Call implements Dispatcher.DispatchHandler {
  readonly connection: Connection;
  readonly #onEnd: (exchange: Call) => void;
  readonly #policy: DetailsPolicy | null;
  #requestHeaders: readonly string[] = [];
  #deadline: Deadline | null = null;
  #headers: HeaderRecord = noHeaders;
  /** Null if the body is not kept. */
  #kept: Buffer[] | null = null;
  #keptBytes = 0;
  #interimResponses = 0;
  #sentAtMs = 0;
  /** `bytesWritten` of the socket before the request. */
  #bytesWrittenBefore = 0;
  #ended = false;
  /** How many bytes of the body were read. */
  bodyBytes = 0;
  /** Whether the policy wants the details of the response. */
  isKept = false;
  /** From the request to the headers of the response. Null until these are complete. */
  firstByteMs: number | null = null;
  /** Null until the response headers are complete. */
  status: number | null = null;
  /** Set when no complete response was received: an `AttemptError`, or else a bug. */
  error: Error | null = null;

  /** Calls `onEnd` once. `policy` is null if only the status and the headers of the response are of interest. */
  constructor(connection: Connection, policy: DetailsPolicy | null, onEnd: (exchange: Call) => void) {
    this.connection = connection;
    this.#policy = policy;
    this.#onEnd = onEnd;
  }

  /** The complete response. Its body is empty unless it was to be kept. */
  response(): ReceivedResponse {
    const headers = new Map<string, string>();
    for (const [name, value = ''] of Object.entries(this.#headers)) headers.set(name, joined(value));
    return { status: this.status ?? 0, headers, body: this.keptBody() ?? Buffer.alloc(0), bodyBytes: this.bodyBytes };
  }

  /** Whether no byte of the request was written. undici writes to a connection that was open only after it has read from it once more. */
  get isUnsent(): boolean {
    return this.connection.socket.bytesWritten === this.#bytesWrittenBefore;
  }

  /** At most the first 16 kB of the body. Null if it is not kept. */
  keptBody(): Buffer | null {
    return this.#kept && Buffer.concat(this.#kept);
  }

  /** The headers of the response: lower-case names, and each value of a repeated one. */
  *headerValues(): Generator<readonly [string, string]> {
    for (const [name, value = ''] of Object.entries(this.#headers)) {
      for (const each of [value].flat()) yield [name, withoutEndingBlanks(each)];
    }
  }

  /** Returns the value of a response header, or null. Those of a repeated header are joined with a comma. */
  header(name: string): string | null {
    const value = this.#headers[name];
    return value === undefined ? null : joined(value);
  }

  /** @param nowMs by `performance.now()` */
  start({ path, headers, body }: PostRequest, nowMs: number, deadline: Deadline | null = null): void {
    const { client, socket } = this.connection;
    this.#requestHeaders = headers;
    this.#deadline = deadline;
    this.#sentAtMs = nowMs;
    this.#bytesWrittenBefore = socket.bytesWritten;
    this.connection.readMax = socket.bytesRead + maxResponseBytes;
    client.dispatch({ method: 'POST', path, headers, body }, this);
  }

  /** Ends the exchange with `TIMEOUT` and closes the connection. */
  timeOut(): void {
    this.#fail(null, true);
  }

  /**
   * Removes headers that were added to the request, such as `traceparent` and `baggage`, which receivers must not get. Instrumentations
   * of undici add them when it creates the request (`undici:request:create`): later than any interceptor sees it. undici calls this
   * handler as its last step before it writes the headers.
   *
   * While the process was stopped, another one can have taken over. So nothing is written after the deadline.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#deadline?.hasPassed) {
      this.timeOut();
      controller.abort(new Error('The deadline has passed'));
      return;
    }
    const headers = headersToWrite(this.connection.client);
    headers.length = this.#requestHeaders.length;
    for (let i = 0; i < headers.length; i += 1) headers[i] = this.#requestHeaders[i] ?? '';
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: HeaderRecord): void {
    if (status < 200) return this.#interimResponse(controller, status);
    this.status = status;
    this.#headers = headers;
    const nowMs = performance.now();
    this.firstByteMs = nowMs - this.#sentAtMs;
    const policy = this.#policy;
    if (policy === null || this.#ended || !policy.keeps(status, nowMs)) return;
    this.isKept = true;
    if (policy.takeBytes(keptBodyBytes, nowMs)) this.#kept = [];
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#kept !== null && this.#keptBytes < keptBodyBytes) {
      // Copied, because the parser reuses its memory for the next chunk.
      const kept = Buffer.from(chunk.subarray(0, keptBodyBytes - this.#keptBytes));
      this.#kept.push(kept);
      this.#keptBytes += kept.length;
    }
    this.bodyBytes += chunk.length;
    if (this.bodyBytes < maxReadBytes) return;
    this.onResponseEnd();
    controller.abort(new Error('The size limit of the body is reached'));
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    // In a later tick, because undici then has read the rest of the chunk. It closes the connection if data follows.
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error, false);
  }

  #interimResponse(controller: Dispatcher.DispatchController, status: number): void {
    this.#interimResponses += 1;
    const problem = interimProblem(status, this.#interimResponses);
    // The final response follows.
    if (problem === null) return;
    const error = new InterimResponseError(problem);
    this.#fail(error, false);
    // Ends the parser, which can have more responses in its chunk.
    controller.abort(error);
  }

  #fail(cause: Error | null, timedOut: boolean): void {
    if (this.#ended) return;
    this.connection.socket.destroy();
    const isOfUndici = cause instanceof errors.InvalidArgumentError || cause instanceof errors.NotSupportedError;
    this.error =
      cause !== null && (isOfUndici || isBug(cause))
        ? cause
        : exchangeError(this.connection, this.status, cause, timedOut);
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    process.nextTick(this.#onEnd, this);
    try {
      if (this.#kept !== null) this.#policy?.returnBytes(keptBodyBytes - this.#keptBytes);
    } catch (error) {
      this.error = error instanceof Error ? error : new TypeError(String(error));
    }
  }
}

/** @param count how many interim responses arrived, with this one */
function interimProblem(status: number, count: number): AttemptCause | null {
  if (status < 100) return 'STATUS_INVALID';
  if (status === 101) return 'PROTOCOL_SWITCHED';
  return count > maxInterimResponses ? 'INTERIM_RESPONSES' : null;
}

function joined(value: string | string[]): string {
  return [value].flat().map(withoutEndingBlanks).join(', ');
}

/** undici removes blanks before a value only. They are no part of it. */
function withoutEndingBlanks(value: string): string {
  return value.replace(/(?<![\t ])[\t ]+$/, '');
}

// In TLS 1.3, a server that demands a client certificate refuses after the client has seen the end of the handshake. OpenSSL and others
// send the first alert, Java and others one of the others.
const certificateAlert = /^ERR_SSL_\S+_ALERT_(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)$/;

function exchangeError(
  { origin, parserReason, firstError }: Connection,
  responseStatus: number | null,
  cause: unknown,
  timedOut: boolean,
): AttemptError {
  const { host } = new URL(origin);
  const firstCode = errorCode(firstError);
  if (responseStatus === null && certificateAlert.test(firstCode)) {
    const message = `${describeCause('TLS_REFUSED', host)} The error is ${firstCode}.`;
    return new AttemptError('TLS_FAILED', message, { attemptCause: 'TLS_REFUSED', cause: firstError });
  }
  const [code, attemptCause] = failureOf(responseStatus, cause, timedOut, parserReason);
  const message = describeCause(attemptCause, host, responseStatus);
  return new AttemptError(code, message, { attemptCause, responseStatus, cause });
}

function failureOf(
  responseStatus: number | null,
  error: unknown,
  timedOut: boolean,
  reason: string | null,
): [code: AttemptErrorClass, cause: AttemptCause] {
  if (timedOut) return ['TIMEOUT', responseStatus === null ? 'NO_RESPONSE' : 'BODY_NOT_ENDED'];
  if (error instanceof errors.HeadersOverflowError) return ['PROTOCOL_ERROR', 'HEADERS_TOO_LARGE'];
  if (error instanceof InterimResponseError) return ['PROTOCOL_ERROR', error.attemptCause];
  if (error instanceof ResponseSizeError) return ['PROTOCOL_ERROR', 'RESPONSE_TOO_LARGE'];
  // Matched by class, because errors of undici's parser have no code.
  if (error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError)
    return ['PROTOCOL_ERROR', parserCause(responseStatus, reason)];
  if (errorCode(error) === 'ECONNRESET') return ['CONNECTION_FAILED', 'RESPONSE_RESET'];
  return ['CONNECTION_FAILED', responseStatus === null ? 'CLOSED' : 'BODY_ENDED_EARLY'];
}

/** By what the parser says about the head of a response. It has other words for the same in trailers. */
const byReason: readonly (readonly [reason: RegExp, cause: AttemptCause])[] = [
  [/^Invalid (?:response )?status/, 'STATUS_INVALID'],
  [/^Invalid header (?:token|field char)$/, 'HEADER_NAME_INVALID'],
  [/^Invalid header value char$/, 'HEADER_VALUE_INVALID'],
  [/^Unexpected (?:whitespace after header value|space after start line)$/, 'HEADER_FOLDED'],
  [/^Missing expected [CL][FR] after |^Expected LF after /, 'LINE_END_INVALID'],
  [/^(?:Duplicate Content-Length|(?:Content-Length|Transfer-Encoding) can't be present)/, 'LENGTHS_CONFLICT'],
  [/Content-Length/, 'LENGTH_INVALID'],
];

function parserCause(responseStatus: number | null, reason: string | null): AttemptCause {
  if (responseStatus !== null)
    return reason === null || reason === 'Invalid EOF state' ? 'BODY_ENDED_EARLY' : 'CHUNK_INVALID';
  return byReason.find(([pattern]) => reason !== null && pattern.test(reason))?.[1] ?? 'NOT_HTTP';
}
