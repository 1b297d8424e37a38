import { type Dispatcher, errors } from 'undici';
import { AttemptError } from './attempt-error.ts';
import type { Connection } from './connection-pool.ts';

export interface PostRequest {
  /** Path and query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; the values of a repeated one joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  /** At most the first 16 kB, as they came: nothing is decompressed. */
  readonly body: Buffer;
  /** Bytes of the body that were read. Reading stops, and the connection is closed, at 64 kB. */
  readonly bodyBytes: number;
}

const maxKeptBytes = 16 * 1024;
const maxReadBytes = 64 * 1024;

/**
 * One POST on a connection. The answer ends with its body, or where we stop reading it.
 * @throws AttemptError `CONNECTION_FAILED`, `PROTOCOL_ERROR`, `TIMEOUT`
 */
export async function exchange(connection: Connection, request: PostRequest, signal: AbortSignal): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const reader = answerReader(resolve, reject);
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

interface AnswerReader {
  readonly handler: Dispatcher.DispatchHandler;
  /** null before the end of the headers */
  status(): number | null;
}

function answerReader(onAnswer: (answer: Answer) => void, onError: (error: unknown) => void): AnswerReader {
  let head: Pick<Answer, 'headers' | 'status'> | null = null;
  const kept: Buffer[] = [];
  let bodyBytes = 0;
  const finish = () => {
    if (head !== null) onAnswer({ ...head, body: Buffer.concat(kept).subarray(0, maxKeptBytes), bodyBytes });
  };
  return {
    status: () => head?.status ?? null,
    handler: {
      // Undici wants it to be there; the abort goes through the socket.
      onRequestStart() {},
      onResponseStart(_controller, status, headers) {
        // 1xx announce the answer; they are not it.
        if (status >= 200) head = { status, headers: headerMap(headers) };
      },
      onResponseData(controller, chunk) {
        // The parser reuses its memory for the next chunk.
        if (bodyBytes < maxKeptBytes) kept.push(Buffer.from(chunk));
        bodyBytes += chunk.length;
        if (bodyBytes < maxReadBytes) return;
        finish();
        controller.abort(new Error('The rest of the body is not read'));
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
        ? `${host} was sent the request, but did not send the headers of an answer.`
        : `${host} answered with status ${responseStatus}, but the body did not end.`,
      details,
    );
  }
  if (cause instanceof errors.HeadersOverflowError) {
    return new AttemptError('PROTOCOL_ERROR', `The headers of the answer of ${host} are larger than 16 kB.`, details);
  }
  // By class, not by code: undici's parser leaves the code out.
  if (cause instanceof errors.HTTPParserError || cause instanceof errors.ResponseContentLengthMismatchError) {
    return new AttemptError('PROTOCOL_ERROR', `What ${host} answered is not valid HTTP/1.1.`, details);
  }
  if (cause instanceof errors.InvalidArgumentError || cause instanceof errors.NotSupportedError) {
    return new AttemptError('PROTOCOL_ERROR', 'The request could not be written as HTTP.', details);
  }
  return new AttemptError(
    'CONNECTION_FAILED',
    `${host} closed the connection before its answer was complete.`,
    details,
  );
}
