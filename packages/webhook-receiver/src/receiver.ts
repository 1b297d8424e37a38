import { parseWebhookBody, type WebhookBody, type WebhookEvent } from '@deedwire/webhook-events';
import {
  verifyWebhook,
  WebhookUsageError,
  WebhookVerificationError,
  type VerifiedWebhook,
  type WebhookRequestHeaders,
} from '@deedwire/webhook-signing/web';
import { readRequest, type ReceivedBody } from './body.ts';
import { checkTimeouts, Deadline, DeadlineError, within } from './deadline.ts';
import { prefixProblem } from './event-headers.ts';
import {
  type AnyHandler,
  checkHandlers,
  deliveryName,
  eventName,
  findHandler,
  pinsOf,
  type UnhandledEvent,
} from './handlers.ts';
import type { EventName, KeptEvents } from './kept-events.ts';
import type { InboxReceiverOptions, WebhookReceiverOptions } from './options.ts';
import type {
  Pull,
  PullTarget,
  ReconcileOptions,
  ReconcileReport,
  ReprocessOptions,
  ReprocessReport,
} from './pulling.ts';
import { Reports } from './report.ts';
import { ok, type Outcome, type OutcomeCode, refusal, type ReceiverResponse } from './responses.ts';
import { Runs } from './runs.ts';
import { secretsProblem } from './secrets.ts';
import { type Forgettable, type OnceResult, WorkFailedError, type WebhookStore } from './store.ts';
import { unsignedHeaders } from './unsigned-headers.ts';
import type { AcceptResult, InboxDelivery, WebhookInbox } from './webhook-inbox.ts';

/** A request as every platform can pass it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly headers: WebhookRequestHeaders;
  /** Called at most once. */
  readonly body: () => Promise<ReceivedBody>;
  /** When it arrived, if you have kept it and process it later: its timestamp may differ by 300 seconds from this time. */
  readonly receivedAt?: Date | undefined;
}

/** A delivery as the application has read it from the API of Deedwire. */
export interface PulledDelivery {
  /** That of the `WebhookDelivery`. Its requests have it as `webhook-id`. */
  readonly id: string;
  /** The text that its requests have as their body. */
  readonly payload: string;
  /** That of the `WebhookDelivery`. */
  readonly isTest?: boolean;
  /**
   * Calls the handler also if the delivery was processed before. If it fails, the delivery stays processed. Needs a store or an
   * inbox of this package.
   */
  readonly again?: boolean;
}

export interface WebhookReceiver<Context = unknown> {
  /** Responds to a request of the Fetch API. It may be passed around without its object. */
  readonly fetch: (request: Request, context?: Context) => Promise<Response>;
  /** What the adapters call. Never rejects. */
  readonly receive: (request: ReceivedRequest, context?: Context) => Promise<ReceiverResponse>;
  /**
   * Processes the events that `keepUnhandled` keeps and that have a handler now, one after the other. Call it at start, and from
   * time to time: a process of the release before may keep events after the start of this one.
   */
  readonly processKept: () => Promise<KeptResult>;
  /** Lets deliveries be processed again. Call it before a replay. */
  readonly forget: (which: Forgettable) => Promise<number>;
  /**
   * Refuses new requests with 503, aborts the signal of the handlers, and waits for them. Stop the jobs of an inbox yourself.
   * What has not ended after `timeoutMs` (25,000 by default) is given up: Deedwire retries it.
   */
  readonly close: (options?: { timeoutMs?: number }) => Promise<void>;
}

/** What this package creates. Apart from `WebhookReceiver`, so that an application that implements that one still compiles. */
export interface PullingReceiver<Context = unknown> extends WebhookReceiver<Context> {
  /**
   * Processes a delivery that the application has read from the API, once for all its requests and pulls. Resolves with what
   * `onResult` gets as `code`, and never rejects. A delivery that fails here is retried only if it is still pending.
   */
  readonly processPulled: (delivery: PulledDelivery) => Promise<OutcomeCode>;
  /**
   * Reads what the subscription has after the last run, and processes what neither a request nor a run has processed. Only one
   * process at a time pulls a subscription; the others wait.
   *
   * @param pull from `graphqlPull`
   * @throws {PullError} if the run could not go on: see its codes
   */
  readonly reconcile: (pull: Pull, options?: ReconcileOptions) => Promise<ReconcileReport>;
  /**
   * Calls the handlers again for what was numbered since a time, for example after a bug in a handler. Each delivery is forgotten
   * and processed in one step, so that what a handler that fails did before stays.
   *
   * @throws {PullError} if the run could not go on: see its codes
   */
  readonly reprocess: (pull: Pull, options: ReprocessOptions) => Promise<ReprocessReport>;
  /**
   * What the subscription has to pin for the handlers, as `eventTypes` of `createWebhookSubscription`: each type at the newest version
   * that has a handler. Empty for an inbox that is not of this package.
   */
  readonly subscription: () => EventName[];
}

export interface KeptResult {
  /** Or accepted by the inbox. They are no longer kept. What was processed before is not counted. */
  readonly processed: number;
  /** They are logged and still kept. What another process processes now is not counted. */
  readonly failed: number;
}

/** The error of a handler, as opposed to one of the store. */
interface HandlerFailure {
  readonly error: unknown;
}

/**
 * Receives webhooks: verifies the signature over the raw body, answers handshakes, processes each delivery once, and responds
 * only when that is recorded.
 *
 * @throws {TypeError} if the list of secrets has a malformed one, or is empty without `awaitingSecret`
 */
export function createWebhookReceiver<Transaction = undefined, Context = unknown>(
  options: WebhookReceiverOptions<Transaction, Context>,
): PullingReceiver<Context> {
  return createReceiver(options);
}

/**
 * Receives webhooks for handlers that take longer than a delivery may: like `createWebhookReceiver`, but responds 202 when an event
 * is stored in the inbox, which calls the handler afterwards.
 *
 * @throws {TypeError} if the list of secrets has a malformed one, or is empty without `awaitingSecret`
 */
export function createInboxReceiver<Context = unknown>(
  options: InboxReceiverOptions<Context>,
): PullingReceiver<Context> {
  return createReceiver(options);
}

function createReceiver<Transaction, Context>(
  options: InboxReceiverOptions<Context> | WebhookReceiverOptions<Transaction, Context>,
): PullingReceiver<Context> {
  const {
    secrets,
    prefix,
    key = 'webhook-id',
    onUnhandled,
    keepUnhandled,
    rejectUnhandled = false,
    awaitingSecret = false,
    unverifiedHandshakes = false,
    bodyTimeoutMs = 10_000,
    handlerTimeoutMs = 60_000,
    storeTimeoutMs = 4_500,
    onResult,
    log = console,
    // A list that is undefined by mistake is refused.
  } = { secrets: () => [], ...options };
  if (typeof secrets !== 'function') {
    const problem = secretsProblem(secrets);
    if (problem !== null) throw new TypeError(problem);
    if (secrets.length === 0 && !awaitingSecret) throw new TypeError(noSecret);
  }
  const ofPrefix = prefix === undefined ? null : prefixProblem(prefix);
  if (ofPrefix !== null) throw new TypeError(`prefix ${ofPrefix}`);
  if (key !== 'webhook-id' && key !== 'event.id') throw new TypeError(`key must be 'webhook-id' or 'event.id'.`);
  if (!('inbox' in options)) checkHandlers(options.on);
  if (keepUnhandled !== undefined && rejectUnhandled)
    throw new TypeError('Set keepUnhandled or rejectUnhandled, not both.');
  checkTimeouts({ bodyTimeoutMs, handlerTimeoutMs, storeTimeoutMs });
  const running = new Set<Promise<unknown>>();
  const runs = new Runs();
  const closing = runs.closing.signal;
  const reports = new Reports(log, onResult);
  const tooLate = `It took longer than storeTimeoutMs (${storeTimeoutMs} ms).`;
  /** The types and versions whose lack of a handler is logged. */
  const unhandledNames = new Set<string>();

  async function load(context: Context): Promise<Outcome | readonly string[]> {
    let loaded: readonly string[];
    try {
      loaded = typeof secrets === 'function' ? await within(storeTimeoutMs, tooLate, () => secrets(context)) : secrets;
    } catch (error) {
      return refusal(500, 'SECRET_INVALID', 'The secrets could not be loaded.', { err: error });
    }
    const problem = secretsProblem(loaded);
    return problem === null ? loaded : refusal(500, 'SECRET_INVALID', problem);
  }

  async function readInTime(request: ReceivedRequest): Promise<Outcome | ReceivedBody> {
    try {
      return await runs.run('body', bodyTimeoutMs, () => request.body());
    } catch (error) {
      if (error instanceof DeadlineError)
        return refusal(408, 'BODY_TIMEOUT', error.message, { headers: closeConnection });
      throw error;
    }
  }

  async function respond(request: ReceivedRequest, context: Context): Promise<Outcome> {
    if (request.method !== 'POST') {
      return refusal(405, 'METHOD_NOT_ALLOWED', `Deedwire sends POST, not ${request.method.slice(0, 20)}.`, {
        headers: { allow: 'POST' },
      });
    }
    const body = await readInTime(request);
    if ('code' in body) return body;
    if (body.kind !== 'bytes') return bodyRefusal(body);
    const loaded = await load(context);
    if ('code' in loaded) return loaded;
    const { bytes } = body;
    const [verified, isAnswered] =
      loaded.length === 0
        ? [refusal(503, 'SECRET_MISSING', noSecret), awaitingSecret]
        : [await verify(request, bytes, loaded, prefix), unverifiedHandshakes];
    if ('code' in verified) return (isAnswered ? handshake(parseWebhookBody(bytes)) : null) ?? verified;
    return processAuthentic(verified.id, {
      body: bytes,
      source: 'push',
      unsigned: unsignedHeaders(request.headers, prefix),
    });
  }

  /** @param delivery of any type, because JavaScript can call it */
  async function processPull(delivery: Partial<Record<keyof PulledDelivery, unknown>> | null): Promise<Outcome> {
    const { id = '', payload, isTest, again } = delivery ?? {};
    if (typeof payload !== 'string') {
      return refusal(400, 'BODY_MALFORMED', 'payload must be a string.');
    }
    if (typeof id !== 'string' || otherGid.test(id)) {
      return refusal(400, 'ID_MISSING', `The id must be that of a WebhookDelivery, not ${String(id).slice(0, 100)}.`);
    }
    return processAuthentic(id, {
      body: new TextEncoder().encode(payload),
      source: 'pull',
      unsigned: { ...unsignedHeaders({}, prefix), isTest: isTest === true },
      again: again === true,
    });
  }

  /** The way of each delivery, whether a request or the API brought it. */
  async function processAuthentic(deliveryId: string | null, arrived: Omit<InboxDelivery, 'id'>): Promise<Outcome> {
    const parsed = parseWebhookBody(arrived.body);
    if (parsed.kind === 'malformed')
      return refusal(400, 'BODY_MALFORMED', 'Deedwire sends no such body.', { problems: parsed.problems });
    if (parsed.kind === 'verification')
      return (
        (arrived.source === 'push' ? handshake(parsed) : null) ??
        refusal(400, 'BODY_MALFORMED', 'Deedwire sends no such verification_token.')
      );
    if (deliveryId === null || deliveryId === '')
      return refusal(400, 'ID_MISSING', 'webhook-id, or the id of a pull, is missing.');
    const delivery = { ...arrived, ...idsOf(parsed.event, deliveryId) };
    const ifItFails = arrived.source === 'pull' ? 'Pull it again.' : 'Deedwire will retry the delivery.';
    const outcome =
      (parsed.kind === 'event' ? await processEvent(parsed.event, delivery, ifItFails) : null) ??
      (await unhandled(parsed.event, delivery, ifItFails));
    return { ...outcome, delivery: { id: delivery.id, type: parsed.event.type, version: parsed.event.version } };
  }

  function idsOf({ id }: UnhandledEvent, deliveryId: string): Pick<InboxDelivery, 'alias' | 'id'> {
    return key === 'event.id' && id !== deliveryId ? { id, alias: deliveryId } : { id: deliveryId };
  }

  /** Null if the event has no handler. */
  async function processEvent(
    event: WebhookEvent,
    delivery: InboxDelivery,
    ifItFails: string,
  ): Promise<Outcome | null> {
    if ('inbox' in options)
      return options.inbox.handles(event) ? accept(options.inbox, event, delivery, ifItFails) : null;
    const handler = findHandler(options.on, event);
    if (handler === null) return null;
    return once(options.store, delivery, event, handler, ifItFails);
  }

  async function unhandled(event: UnhandledEvent, delivery: InboxDelivery, ifItFails: string): Promise<Outcome> {
    const { id } = delivery;
    try {
      await runs.run('handler', handlerTimeoutMs, () => onUnhandled?.(event, { id }));
    } catch (error) {
      return refusal(500, 'HANDLER_FAILED', `onUnhandled threw for ${deliveryName(event, id)}.`, { err: error });
    }
    if (keepUnhandled !== undefined) return keep(keepUnhandled, event, delivery, ifItFails);
    const name = eventName(event);
    if (rejectUnhandled) return refusal(501, 'UNHANDLED', `There is no handler for ${name}. ${ifItFails}`);
    return loggedOnce(outcomeOf('unhandled'), name, 'are acknowledged without an effect');
  }

  async function keep(
    kept: KeptEvents,
    event: UnhandledEvent,
    delivery: InboxDelivery,
    ifItFails: string,
  ): Promise<Outcome> {
    const { type, version } = event;
    const name = eventName(event);
    try {
      const keeping = within(storeTimeoutMs, tooLate, (signal) => kept.keep({ ...delivery, type, version }, signal));
      if (await keeping) return loggedOnce(outcomeOf('kept'), name, 'are kept until processKept finds one');
      return refusal(501, 'UNHANDLED', `There is no handler for ${name}, and keepUnhandled has no room. ${ifItFails}`);
    } catch (error) {
      return failed(error, deliveryName(event, delivery.id), ifItFails);
    }
  }

  function loggedOnce(outcome: Outcome, name: string, consequence: string): Outcome {
    if (unhandledNames.has(name) || unhandledNames.size === unhandledNamesMax) return outcome;
    unhandledNames.add(name);
    return {
      ...outcome,
      line: {
        level: 'warn',
        message: `There is no handler for ${name}. Such events ${consequence}. This is logged once.`,
      },
    };
  }

  async function processKept(): Promise<KeptResult> {
    if (keepUnhandled === undefined) throw new TypeError('processKept needs keepUnhandled.');
    const result = { processed: 0, failed: 0 };
    for (const name of await keepUnhandled.names())
      for await (const delivery of deliveriesOf(keepUnhandled, name)) {
        if (closing.aborted) return result;
        const startMs = performance.now();
        const parsed = parseWebhookBody(delivery.body);
        const outcome =
          parsed.kind === 'event'
            ? await tracked(
                processEvent(parsed.event, { ...delivery, ...idsOf(parsed.event, delivery.id) }, 'It stays kept.'),
              )
            : parsed.kind === 'malformed'
              ? refusal(400, 'BODY_MALFORMED', 'Deedwire sends no such body. It stays kept.', {
                  problems: parsed.problems,
                })
              : null;
        // Nor have the others of this type and version one.
        if (outcome === null) break;
        reports.add({ ...outcome, delivery: { id: delivery.id, ...name } }, startMs);
        const isDone = outcome.response.status < 300;
        if (isDone) await keepUnhandled.remove(delivery.id);
        // Another process counts it.
        if (outcome.code !== 'DUPLICATE' && outcome.code !== 'BUSY') result[isDone ? 'processed' : 'failed'] += 1;
      }
    return result;
  }

  async function accept(
    inbox: WebhookInbox,
    event: WebhookEvent,
    delivery: InboxDelivery,
    ifItFails: string,
  ): Promise<Outcome> {
    const name = deliveryName(event, delivery.id);
    try {
      return outcomeOf(await within(storeTimeoutMs, tooLate, (signal) => inbox.accept(delivery, signal)), name);
    } catch (error) {
      return failed(error, name, ifItFails);
    }
  }

  async function once(
    store: WebhookStore<Transaction>,
    { id, alias, unsigned, source = 'push', again }: InboxDelivery,
    event: WebhookEvent,
    handler: AnyHandler<Transaction>,
    ifItFails: string,
  ): Promise<Outcome> {
    const deadline = new Deadline(storeTimeoutMs, tooLate);
    const name = deliveryName(event, id);
    let failure: HandlerFailure | null = null;
    const work = async (transaction: Transaction, lost?: AbortSignal): Promise<void> => {
      // The response is already sent.
      deadline.signal.throwIfAborted();
      deadline.pause();
      try {
        await runs.run(
          'handler',
          handlerTimeoutMs,
          (signal) => handler(event, { id, transaction, signal, meta: { source, unsigned } }),
          lost,
        );
      } catch (error) {
        // The handler may still use the transaction.
        if (error instanceof DeadlineError) deadline.expire(error);
        // Without it, no handler can succeed.
        if (lost?.aborted === true) throw lost.reason;
        failure = { error };
        throw error;
      } finally {
        deadline.resume();
      }
    };
    try {
      return outcomeOf(await deadline.race(store.once(id, work, deadline.signal, alias, again)), name);
    } catch (error) {
      return failed(error, name, ifItFails, failure);
    } finally {
      deadline.stop();
    }
  }

  async function reported(work: () => Promise<Outcome>): Promise<Outcome> {
    const startMs = performance.now();
    const outcome = closing.aborted
      ? refusal(503, 'CLOSING', 'The receiver is closed.')
      : await tracked(
          work().catch((error: unknown) => refusal(500, 'HANDLER_FAILED', 'The receiver failed.', { err: error })),
        );
    reports.add(outcome, startMs);
    return outcome;
  }

  async function receive(request: ReceivedRequest, context: Context): Promise<ReceiverResponse> {
    return (await reported(() => respond(request, context))).response;
  }

  async function tracked<Result>(work: Promise<Result>): Promise<Result> {
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  }

  const sink = 'inbox' in options ? options.inbox : options.store;
  const target: PullTarget = {
    sink,
    closing,
    process: (delivery) => reported(() => processPull(delivery)),
    reports,
  };

  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without a context, `Context` is unknown or optional
    receive: (request, context) => receive(request, context as Context),
    async fetch(request, context) {
      const received = { method: request.method, headers: request.headers, body: () => readRequest(request) };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      const { body, ...init } = await receive(received, context as Context);
      return new Response(body, init);
    },
    processKept,
    processPulled: async (delivery) => (await target.process(delivery)).code,
    reconcile: (pull, pullOptions) => tracked(pull.reconcile(target, pullOptions)),
    reprocess: (pull, pullOptions) => tracked(pull.reprocess(target, pullOptions)),
    forget: (which) => sink.forget(which),
    subscription: () => ('inbox' in options ? (options.inbox.subscription?.() ?? []) : pinsOf(options.on)),
    async close({ timeoutMs = 25_000 } = {}) {
      checkTimeouts({ timeoutMs });
      runs.closing.abort();
      try {
        await within(timeoutMs, `close waited ${timeoutMs} ms.`, () => Promise.allSettled(running));
      } catch (error) {
        reports.write('error', { code: 'CLOSING', err: error }, 'Something did not end in time.');
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else rejects
        runs.giveUp(error as DeadlineError);
        // The store has its own deadline.
        await Promise.allSettled(running);
      }
    },
  };
}

const noSecret = 'secrets is empty. Set awaitingSecret until the subscription exists.';
/** Types and versions that Deedwire has are far fewer. */
const unhandledNamesMax = 1_000;

async function* deliveriesOf(kept: KeptEvents, name: EventName): AsyncGenerator<InboxDelivery> {
  for (let page = await kept.page(name, null); page.length > 0; page = await kept.page(name, page.at(-1)?.id ?? null))
    yield* page;
}

/** The rest of the body is not read. */
const closeConnection = { connection: 'close' };

function bodyRefusal(body: Exclude<ReceivedBody, { kind: 'bytes' }>): Outcome {
  if (body.kind === 'not-raw')
    return refusal(500, 'BODY_NOT_RAW', `The body was read before the receiver. ${body.fix}`);
  return body.kind === 'aborted'
    ? refusal(400, 'BODY_ABORTED', 'The client closed the connection too early.')
    : refusal(413, 'BODY_TOO_LARGE', 'The body has more than 300,000 bytes.', {
        headers: closeConnection,
      });
}

async function verify(
  { headers, receivedAt: now }: ReceivedRequest,
  body: Uint8Array,
  secret: readonly string[],
  prefix: string | undefined,
): Promise<Outcome | VerifiedWebhook> {
  try {
    return await verifyWebhook({ headers, body, secret, now, prefix });
  } catch (error) {
    if (WebhookVerificationError.isInstance(error)) return refusal(401, error.code, error.message);
    // Headers that no HTTP server produces.
    if (WebhookUsageError.isInstance(error)) return refusal(400, error.code, error.message);
    throw error;
  }
}

/**
 * With the id of an event, its requests would not be recognized. With the id of a subscription, all its deliveries but one would be
 * duplicates.
 */
const otherGid = /^gid:\/\/[^/]*\/(?!WebhookDelivery\/)/;

const tokenPattern = /^[A-Za-z0-9_-]{16,256}$/;

/** The response to a handshake. Null if the body is none, or its token could mean something to a browser. */
function handshake(parsed: WebhookBody): Outcome | null {
  if (parsed.kind !== 'verification' || !tokenPattern.test(parsed.verificationToken)) return null;
  return ok('HANDSHAKE', { verification_token: parsed.verificationToken });
}

/** @param delivery its name in the log */
function outcomeOf(result: AcceptResult | OnceResult | 'kept' | 'unhandled', delivery = ''): Outcome {
  if (result === 'busy') return refusal(409, 'BUSY', `${delivery} is being processed by another request.`);
  const status = result === 'accepted' || result === 'kept' ? 202 : 200;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a type cannot say this of `toUpperCase`
  return ok(result.toUpperCase() as Uppercase<typeof result>, { result }, status);
}

/** @param consequence what happens to the event now */
function failed(error: unknown, delivery: string, consequence: string, failure: HandlerFailure | null = null): Outcome {
  const handlerFailure = WorkFailedError.isInstance(error) ? { error } : failure;
  return handlerFailure === null
    ? refusal(503, 'STORE_UNAVAILABLE', `${delivery} could not be recorded. ${consequence}`, { err: error })
    : refusal(500, 'HANDLER_FAILED', `The handler of ${delivery} failed. ${consequence}`, {
        err: handlerFailure.error,
      });
}
