import { parseWebhookBody, type WebhookEvent } from '@deedwire/webhook-events';
import {
  verifyWebhook,
  WebhookUsageError,
  WebhookVerificationError,
  type VerifiedWebhook,
  type WebhookRequestHeaders,
} from '@deedwire/webhook-signing/web';
import { readRequest, type ReceivedBody } from './body.ts';
import { checkTimeouts, Deadline, DeadlineError, within } from './deadline.ts';
import { HandlerRuns } from './handler-runs.ts';
import { deliveryName, findHandler, type Handlers, type UnhandledEvent, type UnsignedHeaders } from './handlers.ts';
import { ok, refusal, type ReceiverResponse } from './responses.ts';
import { type Secrets, secretsProblem } from './secrets.ts';
import { type Forgettable, type OnceResult, WorkFailedError, type WebhookStore } from './store.ts';
import type { AcceptResult, InboxDelivery, WebhookInbox } from './webhook-inbox.ts';

/** Where the receiver reports what an operator has to know. Bodies, secrets and signatures are never passed. */
export interface ReceiverLog {
  error(message: string, error?: unknown): void;
}

export interface WebhookReceiverOptions<Transaction, Context> {
  secrets: Secrets<Context>;
  store: WebhookStore<Transaction>;
  on: Handlers<Transaction>;
  /** Called for an authentic event that has no handler, before it is acknowledged. If it throws, the response is 500. */
  onUnhandled?: (event: UnhandledEvent, details: { id: string }) => Promise<void> | void;
  /** Responds 501 to events without a handler, so that Deedwire retries them. Defaults to false: they are acknowledged. */
  rejectUnhandled?: boolean;
  /**
   * Answers handshakes whose signature does not verify. Needed only to create another subscription with a generated secret at the
   * same URL. Defaults to false: such handshakes are answered only while there are no secrets.
   */
  unverifiedHandshakes?: boolean;
  /** How long a body may take to arrive, in milliseconds. Defaults to 10,000. */
  bodyTimeoutMs?: number;
  /**
   * How long a handler may run, in milliseconds. Afterwards its `signal` aborts, the store forgets the delivery and closes the
   * connection of the transaction, and the response is 500. Defaults to 60,000. Deedwire waits for 5 seconds; a handler that
   * takes longer finishes, and the retry is a duplicate.
   */
  handlerTimeoutMs?: number;
  /**
   * How long the store or the inbox may take, without the handler, and how long the function for `secrets` may take, in
   * milliseconds. Afterwards the response is 503, or 500. Defaults to 4,500.
   */
  storeTimeoutMs?: number;
  /** Defaults to `console`. */
  log?: ReceiverLog;
}

/** The options of a receiver whose handlers run after the response. The inbox has the handlers. */
export interface InboxReceiverOptions<Context> extends Omit<
  WebhookReceiverOptions<undefined, Context>,
  'on' | 'store'
> {
  inbox: WebhookInbox;
}

/** A request as every platform can pass it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly headers: WebhookRequestHeaders;
  /** Called at most once. */
  readonly body: () => Promise<ReceivedBody>;
}

export interface WebhookReceiver<Context = unknown> {
  /** Responds to a request of the Fetch API. It may be passed around without its object. */
  readonly fetch: (request: Request, context?: Context) => Promise<Response>;
  /** What the adapters call. Never rejects. */
  readonly receive: (request: ReceivedRequest, context?: Context) => Promise<ReceiverResponse>;
  /** Lets deliveries be processed again. Call it before a replay. */
  readonly forget: (which: Forgettable) => Promise<number>;
  /**
   * Refuses new requests with 503, aborts the signal of the handlers, and waits for them. Stop the jobs of an inbox yourself.
   * What has not ended after `timeoutMs` (25,000 by default) is given up: Deedwire retries it.
   */
  readonly close: (options?: { timeoutMs?: number }) => Promise<void>;
}

/** The error of a handler, as opposed to one of the store. */
class HandlerFailure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * Receives webhooks: verifies the signature over the raw body, answers handshakes, processes each delivery once, and responds
 * only when that is recorded.
 *
 * @throws {TypeError} if the list of secrets has a malformed one
 */
export function createWebhookReceiver<Transaction = undefined, Context = unknown>(
  options: WebhookReceiverOptions<Transaction, Context>,
): WebhookReceiver<Context> {
  return createReceiver(options);
}

/**
 * Receives webhooks for handlers that take longer than a delivery may: like `createWebhookReceiver`, but responds 202 when an event
 * is stored in the inbox, which calls the handler afterwards.
 *
 * @throws {TypeError} if the list of secrets has a malformed one
 */
export function createInboxReceiver<Context = unknown>(
  options: InboxReceiverOptions<Context>,
): WebhookReceiver<Context> {
  return createReceiver(options);
}

function createReceiver<Transaction, Context>(
  options: InboxReceiverOptions<Context> | WebhookReceiverOptions<Transaction, Context>,
): WebhookReceiver<Context> {
  const {
    secrets,
    onUnhandled,
    rejectUnhandled = false,
    unverifiedHandshakes = false,
    bodyTimeoutMs = 10_000,
    handlerTimeoutMs = 60_000,
    storeTimeoutMs = 4_500,
    log = console,
  } = options;
  if (typeof secrets !== 'function') {
    const problem = secretsProblem(secrets);
    if (problem !== null) throw new TypeError(problem);
  }
  checkTimeouts({ bodyTimeoutMs, handlerTimeoutMs, storeTimeoutMs });
  const running = new Set<Promise<ReceiverResponse>>();
  const handlers = new HandlerRuns(handlerTimeoutMs);
  const storeTooLate = `The store took longer than storeTimeoutMs (${storeTimeoutMs} ms).`;
  let isClosing = false;

  async function load(context: Context): Promise<readonly string[] | null> {
    try {
      const tooLate = `It took longer than storeTimeoutMs (${storeTimeoutMs} ms).`;
      const loaded =
        typeof secrets === 'function' ? await within(storeTimeoutMs, tooLate, () => secrets(context)) : secrets;
      const problem = secretsProblem(loaded);
      if (problem === null) return loaded;
      log.error(`SECRET_INVALID: ${problem}`);
    } catch (error) {
      log.error('SECRET_INVALID: The secrets could not be loaded.', error);
    }
    return null;
  }

  async function readInTime(request: ReceivedRequest): Promise<ReceivedBody> {
    const tooLate = `The body took longer than bodyTimeoutMs (${bodyTimeoutMs} ms).`;
    try {
      return await within(bodyTimeoutMs, tooLate, () => request.body());
    } catch (error) {
      if (error instanceof DeadlineError) return { kind: 'timeout' };
      throw error;
    }
  }

  async function respond(request: ReceivedRequest, context: Context): Promise<ReceiverResponse> {
    if (request.method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', { allow: 'POST' });
    const body = await readInTime(request);
    if (body.kind === 'timeout') return refusal(408, 'BODY_TIMEOUT', { connection: 'close' });
    if (body.kind === 'too-large') return refusal(413, 'BODY_TOO_LARGE', { connection: 'close' });
    if (body.kind === 'aborted') return refusal(400, 'BODY_ABORTED');
    if (body.kind === 'not-raw') {
      log.error(`BODY_NOT_RAW: The body was read before the receiver. ${body.fix}`);
      return refusal(500, 'BODY_NOT_RAW');
    }
    const loaded = await load(context);
    if (loaded === null) return refusal(500, 'SECRET_INVALID');
    const { bytes } = body;
    if (loaded.length === 0) return handshake(bytes) ?? refusal(503, 'SECRET_MISSING');
    const verified = await verify(request.headers, bytes, loaded);
    if ('status' in verified) return (unverifiedHandshakes ? handshake(bytes) : null) ?? verified;
    return processVerified(verified, bytes, request.headers);
  }

  async function processVerified(
    { id }: VerifiedWebhook,
    bytes: Uint8Array,
    headers: WebhookRequestHeaders,
  ): Promise<ReceiverResponse> {
    const parsed = parseWebhookBody(bytes);
    if (parsed.kind === 'malformed') return refusal(400, 'BODY_MALFORMED');
    if (parsed.kind === 'verification') return handshake(bytes) ?? refusal(400, 'BODY_MALFORMED');
    if (id === null) return refusal(400, 'ID_MISSING');
    if (parsed.kind === 'unknown_event') return unhandled(parsed.event, id);
    const unsigned = unsignedHeaders(headers);
    const { event } = parsed;
    if ('inbox' in options) {
      if (!options.inbox.handles(event)) return unhandled(event, id);
      return accept(options.inbox, event, { id, body: bytes, unsigned });
    }
    const handler = findHandler(options.on, event);
    if (handler === null) return unhandled(event, id);
    return once(options.store, id, event, (transaction, signal) =>
      handler(event, { id, transaction, signal, meta: { unsigned } }),
    );
  }

  async function unhandled(event: UnhandledEvent, id: string): Promise<ReceiverResponse> {
    try {
      await handlers.run(() => onUnhandled?.(event, { id }));
    } catch (error) {
      log.error(`HANDLER_FAILED: onUnhandled threw for ${deliveryName(event, id)}.`, error);
      return refusal(500, 'HANDLER_FAILED');
    }
    return rejectUnhandled ? refusal(501, 'UNHANDLED') : ok({ result: 'unhandled' });
  }

  async function accept(inbox: WebhookInbox, event: WebhookEvent, delivery: InboxDelivery): Promise<ReceiverResponse> {
    try {
      return responseTo(await within(storeTimeoutMs, storeTooLate, () => inbox.accept(delivery)));
    } catch (error) {
      return failed(null, error, deliveryName(event, delivery.id));
    }
  }

  async function once(
    store: WebhookStore<Transaction>,
    id: string,
    event: WebhookEvent,
    handle: (transaction: Transaction, signal: AbortSignal) => unknown,
  ): Promise<ReceiverResponse> {
    const deadline = new Deadline(storeTimeoutMs, storeTooLate);
    let failure: HandlerFailure | null = null;
    const work = async (transaction: Transaction): Promise<void> => {
      // The response is already sent.
      deadline.signal.throwIfAborted();
      deadline.pause();
      try {
        await handlers.run((signal) => handle(transaction, signal));
      } catch (error) {
        failure = new HandlerFailure(error);
        // The handler may still use the transaction.
        if (error instanceof DeadlineError) deadline.expire(error);
        throw error;
      } finally {
        deadline.resume();
      }
    };
    try {
      return responseTo(await deadline.race(store.once(id, work, deadline.signal)));
    } catch (error) {
      return failed(failure, error, deliveryName(event, id));
    } finally {
      deadline.stop();
    }
  }

  function failed(failure: HandlerFailure | null, error: unknown, delivery: string): ReceiverResponse {
    if (failure !== null || WorkFailedError.isInstance(error)) {
      const cause = failure === null ? error : failure.error;
      log.error(`HANDLER_FAILED: The handler of ${delivery} failed. Deedwire will retry the delivery.`, cause);
      return refusal(500, 'HANDLER_FAILED');
    }
    log.error(`STORE_UNAVAILABLE: ${delivery} could not be recorded. Deedwire will retry the delivery.`, error);
    return refusal(503, 'STORE_UNAVAILABLE');
  }

  async function receive(request: ReceivedRequest, context: Context): Promise<ReceiverResponse> {
    if (isClosing) return refusal(503, 'CLOSING');
    const response = respond(request, context).catch((error: unknown) => {
      log.error('HANDLER_FAILED: The receiver failed.', error);
      return refusal(500, 'HANDLER_FAILED');
    });
    running.add(response);
    try {
      return await response;
    } finally {
      running.delete(response);
    }
  }

  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without a context, `Context` is unknown or optional
    receive: (request, context) => receive(request, context as Context),
    async fetch(request, context) {
      const received = { method: request.method, headers: request.headers, body: () => readRequest(request) };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      const { status, headers, body } = await receive(received, context as Context);
      return new Response(body, { status, headers });
    },
    forget: (which) => ('inbox' in options ? options.inbox : options.store).forget(which),
    async close({ timeoutMs = 25_000 } = {}) {
      checkTimeouts({ timeoutMs });
      isClosing = true;
      handlers.close();
      const tooLate = `The receiver was closed, and waited ${timeoutMs} ms.`;
      try {
        await within(timeoutMs, tooLate, () => Promise.all(running));
      } catch (error) {
        if (!(error instanceof DeadlineError)) throw error;
        log.error('CLOSING: Something did not end in time.', error);
        handlers.giveUp(error);
        // The store has its own deadline.
        await Promise.all(running);
      }
    },
  };
}

async function verify(
  headers: WebhookRequestHeaders,
  body: Uint8Array,
  secret: readonly string[],
): Promise<ReceiverResponse | VerifiedWebhook> {
  try {
    return await verifyWebhook({ headers, body, secret });
  } catch (error) {
    if (WebhookVerificationError.isInstance(error)) return refusal(401, error.code);
    // Headers that no HTTP server produces.
    if (WebhookUsageError.isInstance(error)) return refusal(400, error.code);
    throw error;
  }
}

const tokenPattern = /^[A-Za-z0-9_-]{16,256}$/;

/** The response to a handshake. Null if the body is none, or its token could mean something to a browser. */
function handshake(bytes: Uint8Array): ReceiverResponse | null {
  const parsed = parseWebhookBody(bytes);
  if (parsed.kind !== 'verification' || !tokenPattern.test(parsed.verificationToken)) return null;
  return ok({ verification_token: parsed.verificationToken });
}

function responseTo(result: AcceptResult | OnceResult): ReceiverResponse {
  return result === 'busy' ? refusal(409, 'BUSY') : ok({ result }, result === 'accepted' ? 202 : 200);
}

function unsignedHeaders(headers: WebhookRequestHeaders): UnsignedHeaders {
  return {
    subscriptionId: header(headers, 'x-service-webhook-subscription-id'),
    sequence: count(header(headers, 'x-service-webhook-sequence')),
    attempt: count(header(headers, 'x-service-webhook-attempt')),
  };
}

function header(headers: WebhookRequestHeaders, wanted: string): string | null {
  if (typeof headers.get === 'function') return headers.get(wanted);
  for (const key of Object.keys(headers)) {
    if (key.toLowerCase() !== wanted) continue;
    // Node gives an array for each name.
    const [value] = [Reflect.get(headers, key)].flat();
    return typeof value === 'string' ? value : null;
  }
  return null;
}

function count(value: string | null): number | null {
  return value !== null && /^[1-9]\d{0,14}$/.test(value) ? Number(value) : null;
}
