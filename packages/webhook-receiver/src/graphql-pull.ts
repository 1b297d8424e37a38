import { Deadline, DeadlineError, within } from './deadline.ts';
import { prefixProblem } from './event-headers.ts';
import { field, messageOf } from './field.ts';
import { CursorExpired, PullError, TransientError } from './pull-error.ts';
import type { PulledEvent, PulledPage, PullSource } from './pull-source.ts';

/** Of an API client of Deedwire. */
export interface PullCredentials {
  readonly clientId: string;
  readonly apiKey: string;
  readonly organizationId: string;
}

export interface GraphqlPullOptions {
  /** Of the interface, for example `https://…/customer/graphql`. */
  url: string;
  /** What the names of the headers of the interface begin with, for example `X-Service`. */
  prefix: string;
  /** A function is called for each request, so that it can load them from a secret manager. */
  credentials: PullCredentials | (() => PullCredentials | Promise<PullCredentials>);
  /** Of a subscription, or of a listener. */
  subscriptionId: string;
  /**
   * How long a request waits for the next event if there is none, in seconds from 0 to 20. With 0, which is the default, call
   * `reconcile` from time to time. With 20, call it in a loop.
   */
  waitSeconds?: number;
  /** Defaults to the version that is pinned on the API client. */
  schemaVersion?: string;
  /** Defaults to that of the platform. A request ends after 30 seconds and `waitSeconds`, even if this ignores its `signal`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

const query = `query ($id: ID!, $first: Int!, $after: String, $since: DateTime, $waitSeconds: Int!) {
  webhookEvents(subscriptionId: $id, first: $first, after: $after, since: $since, waitSeconds: $waitSeconds) {
    edges { sequence node { deliveryId isTest payload } }
    pageInfo { endCursor }
    lastSequence
    firstKeptSequence
  }
}`;

/** The API sends at most 1 MB. */
const responseMax = 4_000_000;
const timeoutMs = 30_000;
const retryAfterMaxMs = 300_000;
const waitSecondsMax = 20;

/** @throws {TypeError} if an option is malformed. The message contains no credentials. */
export function graphqlSource(options: GraphqlPullOptions): PullSource {
  const { url, prefix, credentials, subscriptionId, waitSeconds = 0, schemaVersion, fetch: send = fetch } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new TypeError('url must be an absolute URL with https or http.');
  const problem = prefixProblem(prefix);
  if (problem !== null) throw new TypeError(`prefix ${problem}`);
  if (typeof subscriptionId !== 'string' || subscriptionId === '')
    throw new TypeError('subscriptionId must be a string that is not empty.');
  if (!Number.isInteger(waitSeconds) || waitSeconds < 0 || waitSeconds > waitSecondsMax)
    throw new TypeError(`waitSeconds must be an integer from 0 to ${waitSecondsMax}.`);
  if (typeof credentials !== 'function') checkCredentials(credentials);

  async function loadCredentials(): Promise<PullCredentials> {
    if (typeof credentials !== 'function') return credentials;
    const tooLate = `The function for credentials took longer than ${timeoutMs} ms.`;
    return checkCredentials(await within(timeoutMs, tooLate, credentials));
  }

  async function exchange(body: string, signal: AbortSignal): Promise<Answer> {
    const { clientId, apiKey, organizationId } = await loadCredentials();
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      [`${prefix}-Client-Id`]: clientId,
      [`${prefix}-API-Key`]: apiKey,
      [`${prefix}-Organization-Id`]: organizationId,
      ...(schemaVersion !== undefined && { [`${prefix}-Schema-Version`]: schemaVersion }),
    };
    // A redirect would send the credentials to another host.
    const response = await send(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    const dateMs = Date.parse(response.headers.get('date') ?? '');
    const nowMs = Number.isNaN(dateMs) ? Date.now() : dateMs;
    return {
      status: response.status,
      text: await textOf(response, signal),
      nowMs,
      afterMs: retryAfterMs(response.headers.get('retry-after'), nowMs),
    };
  }

  async function inTime(body: string, waitMs: number, signal: AbortSignal): Promise<Answer> {
    const limitMs = waitMs + timeoutMs;
    const deadline = new Deadline(limitMs, `The API did not respond within ${limitMs} ms.`);
    const stop = (): void => deadline.expire(new DeadlineError('The run has ended.'));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      // A function for `fetch` may ignore the signal.
      return await deadline.race(exchange(body, deadline.signal));
    } catch (error) {
      if (error instanceof TransientError || error instanceof CredentialsError) throw error;
      throw new TransientError('unavailable', `The request failed: ${reasonOf(error)}`, 0, { cause: error });
    } finally {
      deadline.stop();
      signal.removeEventListener('abort', stop);
    }
  }

  return {
    subscriptionId,
    waitSeconds,
    async page({ cursor, since }, first, wait, signal) {
      const variables = { id: subscriptionId, first, after: cursor, since, waitSeconds: wait };
      return pageOf(await inTime(JSON.stringify({ query, variables }), wait * 1_000, signal));
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** The clock of the server, in milliseconds since 1970. */
  readonly nowMs: number;
  /** That of `Retry-After`, or 0. */
  readonly afterMs: number;
}

/** The application cannot say who it is. */
class CredentialsError extends TypeError {}

function checkCredentials(credentials: PullCredentials): PullCredentials {
  for (const name of ['clientId', 'apiKey', 'organizationId'] as const) {
    const value: unknown = field(credentials, name);
    if (typeof value !== 'string' || value === '')
      throw new CredentialsError(`credentials.${name} must be a string that is not empty.`);
  }
  return credentials;
}

/** @internal */
export async function textOf(response: Response, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.byteLength;
      if (size > responseMax)
        throw new TransientError('invalid', `The response has more than ${responseMax / 1_000_000} MB.`);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** @param nowMs the clock of the server, because that of this machine can be wrong */
function retryAfterMs(header: string | null, nowMs: number): number {
  // A proxy can add a second value.
  const seconds = Number.parseFloat(header ?? '0');
  const ms = Number.isNaN(seconds) ? Date.parse(header ?? '') - nowMs : seconds * 1_000;
  return ms > 0 ? Math.min(ms, retryAfterMaxMs) : 0;
}

const leastLimitMs = 1_000;

/** Codes of requests that the server may accept later. */
const transientCodes: ReadonlySet<unknown> = new Set([
  'INTERNAL_SERVER_ERROR',
  'OPERATION_TIMEOUT',
  'REQUEST_TIMEOUT',
  'SERVICE_UNAVAILABLE',
]);

/** @throws {PullError | TransientError} if the response is no page */
function pageOf({ status, text, nowMs, afterMs }: Answer): PulledPage {
  const content = parsed(text);
  const errors = field(content, 'errors');
  const error: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const extensions = field(error, 'extensions');
  const code = field(extensions, 'code');
  if (status === 429 || code === 'RATE_LIMITED')
    throw new TransientError('limit', 'The bucket of the API client is empty.', Math.max(afterMs, leastLimitMs));
  if (status >= 500 || status === 408 || transientCodes.has(code))
    throw new TransientError(
      'unavailable',
      `The API responded ${status} ${typeof code === 'string' ? code : ''}`,
      afterMs,
    );
  if (code === 'CURSOR_EXPIRED') {
    const first = field(extensions, 'firstKeptSequence');
    throw new CursorExpired(isSequence(first) ? first : null);
  }
  if (error !== undefined)
    throw new PullError('REFUSED', `The API responded ${status} ${String(code)}: ${String(field(error, 'message'))}`);
  if (status >= 300)
    throw new PullError('REFUSED', `The API responded ${status}. Check the URL, which must not redirect.`);
  const events = field(field(content, 'data'), 'webhookEvents');
  if (events === null)
    throw new PullError('SUBSCRIPTION_NOT_FOUND', 'This API client has no subscription with this identifier.');
  const page = pageIn(events, nowMs);
  if (page === null)
    throw new TransientError('invalid', `The response is not one of the API. It begins with ${beginning(text)}`);
  return page;
}

function pageIn(connection: unknown, nowMs: number): PulledPage | null {
  const edges = field(connection, 'edges');
  const endCursor = field(field(connection, 'pageInfo'), 'endCursor');
  const lastSequence = field(connection, 'lastSequence');
  const firstKeptSequence = field(connection, 'firstKeptSequence');
  if (!Array.isArray(edges) || !isNullOr(endCursor, isText)) return null;
  if (lastSequence !== 0 && !isSequence(lastSequence)) return null;
  if (!isNullOr(firstKeptSequence, isSequence)) return null;
  const events = edges.map(eventOf);
  if (!events.every((event) => event !== null)) return null;
  return { events, endCursor, lastSequence, firstKeptSequence, nowMs };
}

function eventOf(edge: unknown): PulledEvent | null {
  const [sequence, node] = [field(edge, 'sequence'), field(edge, 'node')];
  const [deliveryId, isTest, payload] = [field(node, 'deliveryId'), field(node, 'isTest'), field(node, 'payload')];
  if (!isSequence(sequence) || typeof isTest !== 'boolean' || !isNullOr(payload, isText)) return null;
  // The id of something else would not be recognized in a request.
  if (!isText(deliveryId) || !/^gid:\/\/[^/]+\/WebhookDelivery\/./.test(deliveryId)) return null;
  return { sequence, deliveryId, isTest, payload };
}

function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNullOr<Value>(value: unknown, isValue: (value: unknown) => value is Value): value is Value | null {
  return value === null || isValue(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of a page of a proxy, for example. A response of the API contains events, which are not logged. */
function beginning(text: string): string {
  return text.trimStart().startsWith('<') ? JSON.stringify(text.trim().slice(0, 80)) : `${text.length} characters`;
}

/** `fetch` puts the reason into the cause. */
function reasonOf(error: unknown): string {
  const cause = field(error, 'cause');
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`;
}
