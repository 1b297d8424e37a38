import { type Agent, type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { field, messageOf } from '../field.ts';
import { textField } from './text.ts';

export interface Sent {
  readonly method?: string;
  /** An array sends the header more than once. */
  readonly headers: OutgoingHttpHeaders;
  /** Several parts are sent with a pause between them. */
  readonly body: readonly Uint8Array[];
  /** Keeps a connection open for the next request. */
  readonly agent?: Agent;
}

export interface Answer {
  /** Null if there was no response. */
  readonly status: number | null;
  /** Why there was none: one line, or an empty text. */
  readonly problem: string;
  /** Of the error, for example `ECONNREFUSED`. */
  readonly code: string;
  readonly location: string;
  /** Its beginning. */
  readonly body: string;
  readonly durationMs: number;
}

/** As a worker of Deedwire. */
export const deadlineMs = 5_000;
const bodyMax = 100_000;
const pauseMs = 100;

/** Sends a request as a worker does: it waits 5 seconds, and follows no redirect. Never rejects. */
export async function send(url: URL, { method = 'POST', headers, body, agent }: Sent): Promise<Answer> {
  const startMs = performance.now();
  const answer = (more: Partial<Answer>): Answer => ({
    status: null,
    problem: '',
    code: '',
    location: '',
    body: '',
    durationMs: Math.round(performance.now() - startMs),
    ...more,
  });
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), deadlineMs + pauseMs * (body.length - 1));
  try {
    const response = await respond(url, { method, headers, body, ...(agent && { agent }) }, deadline.signal);
    const text = await beginningOf(response);
    return answer({ status: response.statusCode ?? null, body: text, location: response.headers.location ?? '' });
  } catch (error) {
    const problem = deadline.signal.aborted ? `no response within ${deadlineMs / 1_000} s` : reasonOf(error);
    return answer({ problem, code: textField(error, 'code') });
  } finally {
    clearTimeout(timer);
  }
}

function respond(url: URL, { method, headers, body, agent }: Sent, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body.reduce((bytes, part) => bytes + part.byteLength, 0);
    // Before the request destroys its socket.
    signal.addEventListener('abort', () => {
      if (request.socket?.connecting) reject(Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' }));
    });
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method,
      headers: { ...headers, ...(method === 'GET' ? {} : { 'content-length': length }) },
      agent: agent ?? false,
      signal,
      ...(url.hostname === 'localhost' && {
        lookup: bothAddresses,
        autoSelectFamily: true,
        // The default of 250 ms is less than a full queue of connections needs: its first retry is after 1 s.
        autoSelectFamilyAttemptTimeout: 2 * deadlineMs,
      }),
    });
    request.on('error', reject);
    request.on('response', resolve);
    // Node emits nothing else for 101.
    request.on('close', () => reject(new Error('101 Switching Protocols')));
    void write(request, body, signal).catch(() => {});
  });
}

async function write(
  request: ReturnType<typeof httpRequest>,
  body: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<void> {
  for (const [index, part] of body.entries()) {
    if (index > 0) await sleep(pauseMs, null, { signal });
    request.write(part);
  }
  request.end();
}

/** Closes the connection of a response that does not end. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > bodyMax) break;
  }
  return Buffer.concat(chunks).toString();
}

/** Many machines resolve `localhost` to one address, and a receiver can listen on the other one. */
const bothAddresses: LookupFunction = (_hostname, _options, callback) =>
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);

/** That of a refused connection is empty if the host has several addresses. */
function reasonOf(error: unknown): string {
  const errors = field(error, 'errors');
  return messageOf(Array.isArray(errors) ? errors[0] : error);
}
