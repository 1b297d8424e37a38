import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestError } from '../errors/request-error.ts';
import { tooLarge } from './check-head.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text has no byte order mark. `bytes` is the size of the body. */
export interface Body {
  text: string;
  bytes: number;
}

/**
 * Reads the body.
 *
 * @throws {RequestError} if the body is too large, too slow, incomplete or not UTF-8.
 */
export async function readBody(request: IncomingMessage, limits: { bodyBytes: number; bodyMs: number }): Promise<Body> {
  // The head of a request is handled before the rest of what has arrived with it is parsed.
  if (!request.complete) await nextTurn();
  const bytes = request.complete ? readArrived(request, limits) : await readBytes(request, limits);
  try {
    return { text: utf8.decode(bytes), bytes: bytes.length };
  } catch {
    throw new RequestError('BAD_REQUEST', { message: 'The body is not valid UTF-8.' });
  }
}

/** A short body arrives together with the head. Without listeners and a timer, reading it takes a fraction of the time. */
function readArrived(request: IncomingMessage, limits: { bodyBytes: number }): Buffer {
  const first: Buffer | null = request.read();
  if (first === null) return Buffer.alloc(0);
  let bytes = first;
  if (request.readableLength > 0) {
    // Node returns about 64 kB at a time.
    const chunks = [first];
    for (let chunk: Buffer | null = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk);
    bytes = Buffer.concat(chunks);
  }
  if (bytes.length > limits.bodyBytes) throw tooLarge(`at least ${bytes.length.toLocaleString('en')}`, limits);
  return bytes;
}

function readBytes(request: IncomingMessage, limits: { bodyBytes: number; bodyMs: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;

    // An error has a stack, which costs more than the rest of a short body. So it is created only when it is used.
    const fail = (error: () => RequestError): void => {
      if (isSettled) return;
      release();
      reject(error());
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limits.bodyBytes) fail(() => tooLarge(`at least ${size.toLocaleString('en')}`, limits));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      if (isSettled) return;
      release();
      const [only] = chunks;
      resolve(only && chunks.length === 1 ? only : Buffer.concat(chunks));
    };
    const onAbort = (): void => fail(() => new RequestError('BAD_REQUEST', { message: 'The body is incomplete.' }));
    const timer = setTimeout(() => fail(() => tooSlow(size, request, limits)), limits.bodyMs);
    const release = (): void => {
      isSettled = true;
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onAbort);
      request.pause(); // the response decides how much of a rejected body is still read
    };

    request.on('data', onData);
    request.once('end', onEnd);
    request.once('error', onAbort); // not removed: a later error without a listener would end the process
    request.once('close', onAbort);
    if (request.destroyed) onAbort();
  });
}

function tooSlow(size: number, { headers }: IncomingMessage, { bodyMs }: { bodyMs: number }): RequestError {
  const declared = headers['content-length'];
  const found = `${size.toLocaleString('en')}${declared === undefined ? '' : ` of ${Number(declared).toLocaleString('en')}`} bytes`;
  const message = `The body was not complete after ${bodyMs / 1000} seconds: ${found} had arrived. Send the request again on a new connection.`;
  return new RequestError('REQUEST_TIMEOUT', { message });
}
