import { type Dispatcher, errors } from 'undici';
import { AttemptError } from './attempt-error.ts';
import type { Connection } from './connection-pool.ts';

export interface PostRequest {
  /** Path and query. */
  readonly path: string;
  readonly headers: Record<string, string>;
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

const maxKeptBytes = 16 * 1024;
const maxReadBytes = 64 * 1024;

/**
 * Sends one POST request on a connection. Returns when the response body ends or when 64 kB of it are read.
 *
 * @throws {AttemptError} when no complete response is received: `CONNECTION_FAILED`, `PROTOCOL_ERROR` or `TIMEOUT`.
 */
export async function exchange(
  connection: Connection,
  request: PostRequest,
  signal: AbortSignal,
): Promise<ReceivedResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedResponse>();
  const reader = responseReader(resolve, reject);
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  else connection.client.dispatch({ ...request, method: 'POST' }, reader.handler);
  try {
    return await promise;
  } catch (error) {
    connection.socket.destroy();
    throw exchangeError(connection.origin, reader.status(), error, signal.aborted);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

interface ResponseReader {
  readonly handler: Dispatcher.DispatchHandler;
  /** Returns null until the response headers are complete. */
  status(): number | null;
}

function responseReader(
  onResponse: (response: ReceivedResponse) => void,
  onError: (error: unknown) => void,
): ResponseReader {
  let head: Pick<ReceivedResponse, 'headers' | 'status'> | null = null;
  const kept: Buffer[] = [];
  let bodyBytes = 0;
  const finish = () => {
    if (head !== null) onResponse({ ...head, body: Buffer.concat(kept).subarray(0, maxKeptBytes), bodyBytes });
  };
  return {
    status: () => head?.status ?? null,
    handler: {
      // undici requires this handler. It does nothing because an abort destroys the socket.
      onRequestStart() {},
      onResponseStart(_controller, status, headers) {
        // A 1xx response is informational; the final response follows.
        if (status >= 200) head = { status, headers: headerMap(headers) };
      },
      onResponseData(controller, chunk) {
        // Copied, because the parser reuses its memory for the next chunk.
        if (bodyBytes < maxKeptBytes) kept.push(Buffer.from(chunk));
        bodyBytes += chunk.length;
        if (bodyBytes < maxReadBytes) return;
        finish();
        controller.abort(new Error('The size limit of the body is reached'));
      },
      onResponseEnd: finish,
      onResponseError: (_controller, error) => onError(error),
    },
  };
}

function headerMap(headers: Readonly<Record<string, string | string[] | undefined>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')]));
}

function exchangeError(origin: string, responseStatus: number | null, cause: unknown, timedOut: boolean): AttemptError {
  const details = { responseStatus, cause };
  const { host } = new URL(origin);
  if (timedOut) {
    return new AttemptError(
      'TIMEOUT',
      responseStatus === null
        ? `${host} did not send the response headers.`
        : `${host} returned status ${responseStatus}, but the response body did not end.`,
      details,
    );
  }
  if (cause instanceof errors.HeadersOverflowError) {
    return new AttemptError(
      'PROTOCOL_ERROR',
      `The response headers of ${host} are larger than 16 kB. Send smaller headers.`,
      details,
    );
  }
  // Matched by class, because errors of undici's parser have no code.
  if (cause instanceof errors.HTTPParserError || cause instanceof errors.ResponseContentLengthMismatchError) {
    return new AttemptError(
      'PROTOCOL_ERROR',
      `The response of ${host} is not valid HTTP/1.1. Check that the port belongs to an HTTP server.`,
      details,
    );
  }
  if (cause instanceof errors.InvalidArgumentError || cause instanceof errors.NotSupportedError) {
    return new AttemptError('PROTOCOL_ERROR', 'The request could not be written as HTTP.', details);
  }
  return new AttemptError(
    'CONNECTION_FAILED',
    `${host} closed the connection before the response was complete.`,
    details,
  );
}
