import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { TcpSocketConnectOpts } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../field.ts';
import { proxyHint, type Target } from './target.ts';
import { textField } from './text.ts';

export interface Sent {
  readonly method?: string | undefined;
  /** An array sends the header more than once. */
  readonly headers: OutgoingHttpHeaders;
  /** Several parts are sent with a pause between them, unless they are chunked. */
  readonly body: readonly Uint8Array[];
  /** Sends each part as a chunk, and no length. */
  readonly isChunked?: boolean | undefined;
  readonly agent?: Agent | undefined;
  /** Defaults to 5,000. */
  readonly timeoutMs?: number | undefined;
}

export interface Answer {
  /** Null if there was no response. */
  readonly status: number | null;
  /** Why there was none: one line, or an empty text. */
  readonly problem: string;
  /** `TIMEOUT` if none was complete in time. */
  readonly code: string;
  /** Whether the receiver accepted the connection. */
  readonly isConnected: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly durationMs: number;
}

const noAnswer = { status: null, problem: '', code: '', isConnected: false, headers: {}, body: '' };
export const defaultTimeoutMs = 5_000;
const bodyMax = 100_000;
const pauseMs = 100;

export const isOfParser = (code: string): boolean => code.startsWith('HPE_');

/** @param isKept keeps one connection open for the next request */
export function agentOf({ url, env }: Target, isKept = false): Agent {
  const options = { keepAlive: isKept, maxSockets: isKept ? 1 : Number.POSITIVE_INFINITY };
  const proxied = env?.['NODE_USE_ENV_PROXY'] === '1' ? { ...options, proxyEnv: env } : options;
  return new (url.protocol === 'https:' ? HttpsAgent : Agent)(proxied);
}

/** Sends a request as a worker does: it waits as long as a subscription says, and follows no redirect. Never rejects. */
export async function send(target: Target, sent: Sent): Promise<Answer> {
  const { timeoutMs = defaultTimeoutMs } = sent;
  const startMs = performance.now();
  let isConnected = false;
  const answer = (more: Partial<Answer>): Answer => ({
    ...noAnswer,
    durationMs: Math.round(performance.now() - startMs),
    isConnected,
    ...more,
  });
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs + pauseMs * (sent.body.length - 1));
  try {
    const onConnected = (): void => void (isConnected = true);
    const response = await respond(target, sent, deadline.signal, onConnected);
    const text = await beginningOf(response);
    // A response without a length ends when its connection does.
    deadline.signal.throwIfAborted();
    return answer({ status: response.statusCode ?? null, body: text, headers: response.headers });
  } catch (error) {
    const [reason, code] = deadline.signal.aborted
      ? [`no response within ${timeoutMs / 1_000} s`, 'TIMEOUT']
      : [reasonOf(error), textField(error, 'code')];
    return answer({ problem: `${reason}${proxyHint(target.env)}`, code });
  } finally {
    clearTimeout(timer);
  }
}

function respond(target: Target, sent: Sent, signal: AbortSignal, onConnected: () => void): Promise<IncomingMessage> {
  const { url, addresses } = target;
  const { method = 'POST', headers, body, isChunked = false, agent = agentOf(target) } = sent;
  const { timeoutMs = defaultTimeoutMs } = sent;
  const length = body.reduce((bytes, part) => bytes + part.byteLength, 0);
  const transfer = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
  const connecting: Partial<TcpSocketConnectOpts> = {
    autoSelectFamily: true,
    // The default of 250 ms is less than a full queue of connections needs: its first retry is after 1 s.
    autoSelectFamilyAttemptTimeout: addresses === undefined ? 2_000 : 2 * timeoutMs,
    // In a later tick: otherwise Node connects before it returns the socket, and the error of a connection that fails at once, which has no
    // listener yet, ends the process.
    ...(addresses && { lookup: (_hostname, _options, callback) => process.nextTick(callback, null, addresses) }),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      ...connecting,
      method,
      headers: { ...headers, ...(method === 'GET' ? {} : transfer) },
      agent,
      signal,
    });
    request.on('error', reject);
    // Of TLS, once its handshake has ended.
    request.on('socket', (socket) => {
      if (request.reusedSocket) onConnected();
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected);
    });
    // A request whose proxy does not respond emits nothing.
    signal.addEventListener('abort', () => reject(signal.reason));
    request.on('response', resolve);
    // Node emits nothing else for 101.
    request.on('close', () => reject(new Error('101 Switching Protocols')));
    void write(request, body, isChunked ? 0 : pauseMs, signal).catch(() => {});
  });
}

async function write(request: ClientRequest, body: Sent['body'], waitMs: number, signal: AbortSignal): Promise<void> {
  for (const [index, part] of body.entries()) {
    if (index > 0 && waitMs > 0) await sleep(waitMs, null, { signal });
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

/** The message of a response that is cut says nothing, and that of the parser not what it parsed. */
export function reasonOf(error: unknown): string {
  if (isOfParser(textField(error, 'code'))) return `the response is not valid HTTP/1.1: ${textField(error, 'reason')}`;
  const message = messageOf(error);
  return message === 'aborted' ? 'the response ended early' : message;
}
