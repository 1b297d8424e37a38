import { readRequest } from './body.ts';
import { checkTimeouts, type DeadlineError, within } from './deadline.ts';
import { Deliveries, type PulledDelivery } from './deliveries.ts';
import type { EventPackage } from './events.ts';
import { pinsOf } from './handlers.ts';
import type { EventName } from './kept-events.ts';
import type { InboxReceiverOptions, WebhookReceiverOptions } from './options.ts';
import { type KeptResult, processKept } from './process-kept.ts';
import type {
  Pull,
  PullTarget,
  ReconcileOptions,
  ReconcileReport,
  ReprocessOptions,
  ReprocessReport,
} from './pulling.ts';
import { Reports } from './report.ts';
import { type ReceivedRequest, Requests } from './requests.ts';
import { type Outcome, type OutcomeCode, type ReceiverResponse, refusal } from './responses.ts';
import { Runs } from './runs.ts';
import { type ReceiverOptions, readSettings } from './settings.ts';
import type { Forgettable } from './store.ts';

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

/**
 * Receives webhooks: verifies the signature over the raw body, answers handshakes, processes each delivery once, and responds
 * only when that is recorded.
 *
 * @throws {TypeError} if the list of secrets has a malformed one, or is empty without `awaitingSecret`
 */
export function createWebhookReceiver<Events extends EventPackage, Transaction = undefined, Context = unknown>(
  options: WebhookReceiverOptions<Events, Transaction, Context>,
): PullingReceiver<Context> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a handler gets events of its type and version, and what its store gives it
  return createReceiver(options as unknown as ReceiverOptions<Context>);
}

/**
 * Receives webhooks for handlers that take longer than a delivery may: like `createWebhookReceiver`, but responds 202 when an event
 * is stored in the inbox, which calls the handler afterwards.
 *
 * @throws {TypeError} if the list of secrets has a malformed one, or is empty without `awaitingSecret`
 */
export function createInboxReceiver<Events extends EventPackage, Context = unknown>(
  options: InboxReceiverOptions<Events, Context>,
): PullingReceiver<Context> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `onUnhandled` gets what the package parses
  return createReceiver(options as unknown as ReceiverOptions<Context>);
}

function createReceiver<Context>(options: ReceiverOptions<Context>): PullingReceiver<Context> {
  const settings = readSettings(options);
  const { target: given } = settings;
  const running = new Set<Promise<unknown>>();
  const runs = new Runs();
  const closing = runs.closing.signal;
  const reports = new Reports(settings.log, settings.onResult);
  const deliveries = new Deliveries(settings, runs);
  const requests = new Requests(settings, runs, deliveries);

  async function tracked<Result>(work: Promise<Result>): Promise<Result> {
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
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
    return (await reported(() => requests.respond(request, context))).response;
  }

  async function close({ timeoutMs = 25_000 } = {}): Promise<void> {
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
  }

  const sink = 'inbox' in given ? given.inbox : given.store;
  const target: PullTarget = {
    sink,
    closing,
    process: (delivery) => reported(() => deliveries.processPull(delivery)),
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
    processKept: () => processKept(settings, deliveries, reports, closing, tracked),
    processPulled: async (delivery) => (await target.process(delivery)).code,
    reconcile: (pull, pullOptions) => tracked(pull.reconcile(target, pullOptions)),
    reprocess: (pull, pullOptions) => tracked(pull.reprocess(target, pullOptions)),
    forget: (which) => sink.forget(which),
    subscription: () => ('inbox' in given ? (given.inbox.subscription?.() ?? []) : pinsOf(given.on)),
    close,
  };
}
