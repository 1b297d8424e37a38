import { Deadline, DeadlineError, within } from './deadline.ts';
import type { AnyEvent } from './events.ts';
import { type AnyHandler, deliveryName, eventName, findHandler } from './handlers.ts';
import { handshake } from './handshake.ts';
import type { KeptEvents } from './kept-events.ts';
import { ok, type Outcome, refusal } from './responses.ts';
import type { Runs } from './runs.ts';
import type { Settings } from './settings.ts';
import { type OnceResult, WorkFailedError, type WebhookStore } from './store.ts';
import { unsignedHeaders } from './unsigned-headers.ts';
import type { AcceptResult, InboxDelivery, WebhookInbox } from './webhook-inbox.ts';

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

/** The error of a handler, as opposed to one of the store. */
interface HandlerFailure {
  readonly error: unknown;
}

/** Processes what is authentic, whether a request or the API brought it. */
export class Deliveries {
  readonly #settings: Omit<Settings<unknown>, 'secrets'>;
  readonly #runs: Runs;
  /** The types and versions whose lack of a handler is logged. */
  readonly #unhandledNames = new Set<string>();

  constructor(settings: Omit<Settings<unknown>, 'secrets'>, runs: Runs) {
    this.#settings = settings;
    this.#runs = runs;
  }

  /** @param delivery of any type, because JavaScript can call it */
  async processPull(delivery: Partial<Record<keyof PulledDelivery, unknown>> | null): Promise<Outcome> {
    const { id = '', payload, isTest, again } = delivery ?? {};
    if (typeof payload !== 'string') {
      return refusal(400, 'BODY_MALFORMED', 'payload must be a string.');
    }
    if (typeof id !== 'string' || otherGid.test(id)) {
      return refusal(400, 'ID_MISSING', `The id must be that of a WebhookDelivery, not ${String(id).slice(0, 100)}.`);
    }
    return this.process(id, {
      body: new TextEncoder().encode(payload),
      source: 'pull',
      unsigned: { ...unsignedHeaders({}, undefined), isTest: isTest === true },
      again: again === true,
    });
  }

  /** The way of each delivery, whether a request or the API brought it. */
  async process(deliveryId: string | null, arrived: Omit<InboxDelivery, 'id'>): Promise<Outcome> {
    const parsed = this.#settings.events.parseWebhookBody(arrived.body);
    if (parsed.kind === 'malformed')
      return refusal(400, 'BODY_MALFORMED', 'Deedwire sends no such body.', { problems: parsed.problems });
    if (parsed.kind === 'verification')
      return (
        (arrived.source === 'push' ? handshake(parsed) : null) ??
        refusal(400, 'BODY_MALFORMED', 'Deedwire sends no such verification_token.')
      );
    if (deliveryId === null || deliveryId === '')
      return refusal(400, 'ID_MISSING', 'webhook-id, or the id of a pull, is missing.');
    const delivery = { ...arrived, ...this.idsOf(parsed.event, deliveryId) };
    const ifItFails = arrived.source === 'pull' ? 'Pull it again.' : 'Deedwire will retry the delivery.';
    const outcome =
      (parsed.kind === 'event' ? await this.processEvent(parsed.event, delivery, ifItFails) : null) ??
      (await this.#unhandled(parsed.event, delivery, ifItFails));
    return { ...outcome, delivery: { id: delivery.id, type: parsed.event.type, version: parsed.event.version } };
  }

  /** What a delivery of the event is remembered by. */
  idsOf({ id }: AnyEvent, deliveryId: string): Pick<InboxDelivery, 'alias' | 'id'> {
    return this.#settings.key === 'event.id' && id !== deliveryId ? { id, alias: deliveryId } : { id: deliveryId };
  }

  /** Null if the event has no handler. */
  async processEvent(event: AnyEvent, delivery: InboxDelivery, ifItFails: string): Promise<Outcome | null> {
    const { target } = this.#settings;
    if ('inbox' in target)
      return target.inbox.handles(event) ? this.#accept(target.inbox, event, delivery, ifItFails) : null;
    const handler = findHandler(target.on, event);
    if (handler === null) return null;
    return this.#once(target.store, delivery, event, handler, ifItFails);
  }

  async #unhandled(event: AnyEvent, delivery: InboxDelivery, ifItFails: string): Promise<Outcome> {
    const { id } = delivery;
    const { handlerTimeoutMs, keepUnhandled, onUnhandled, rejectUnhandled } = this.#settings;
    try {
      await this.#runs.run('handler', handlerTimeoutMs, () => onUnhandled?.(event, { id }));
    } catch (error) {
      return refusal(500, 'HANDLER_FAILED', `onUnhandled threw for ${deliveryName(event, id)}.`, { err: error });
    }
    if (keepUnhandled !== undefined) return this.#keep(keepUnhandled, event, delivery, ifItFails);
    const name = eventName(event);
    if (rejectUnhandled) return refusal(501, 'UNHANDLED', `There is no handler for ${name}. ${ifItFails}`);
    return this.#loggedOnce(outcomeOf('unhandled'), name, 'are acknowledged without an effect');
  }

  async #keep(kept: KeptEvents, event: AnyEvent, delivery: InboxDelivery, ifItFails: string): Promise<Outcome> {
    const { type, version } = event;
    const name = eventName(event);
    try {
      const { storeTimeoutMs, tooLate } = this.#settings;
      const keeping = within(storeTimeoutMs, tooLate, (signal) => kept.keep({ ...delivery, type, version }, signal));
      if (await keeping) return this.#loggedOnce(outcomeOf('kept'), name, 'are kept until processKept finds one');
      return refusal(501, 'UNHANDLED', `There is no handler for ${name}, and keepUnhandled has no room. ${ifItFails}`);
    } catch (error) {
      return failed(error, deliveryName(event, delivery.id), ifItFails);
    }
  }

  #loggedOnce(outcome: Outcome, name: string, consequence: string): Outcome {
    const names = this.#unhandledNames;
    if (names.has(name) || names.size === unhandledNamesMax) return outcome;
    names.add(name);
    return {
      ...outcome,
      line: {
        level: 'warn',
        message: `There is no handler for ${name}. Such events ${consequence}. This is logged once.`,
      },
    };
  }

  async #accept(inbox: WebhookInbox, event: AnyEvent, delivery: InboxDelivery, ifItFails: string): Promise<Outcome> {
    const name = deliveryName(event, delivery.id);
    const { storeTimeoutMs, tooLate } = this.#settings;
    try {
      return outcomeOf(await within(storeTimeoutMs, tooLate, (signal) => inbox.accept(delivery, signal)), name);
    } catch (error) {
      return failed(error, name, ifItFails);
    }
  }

  async #once(
    store: WebhookStore<unknown>,
    { id, alias, unsigned, source = 'push', again }: InboxDelivery,
    event: AnyEvent,
    handler: AnyHandler<unknown>,
    ifItFails: string,
  ): Promise<Outcome> {
    const { handlerTimeoutMs, storeTimeoutMs, tooLate } = this.#settings;
    const deadline = new Deadline(storeTimeoutMs, tooLate);
    const name = deliveryName(event, id);
    let failure: HandlerFailure | null = null;
    const work = async (transaction: unknown, lost?: AbortSignal): Promise<void> => {
      // The response is already sent.
      deadline.signal.throwIfAborted();
      deadline.pause();
      try {
        await this.#runs.run(
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
}

/** Types and versions that Deedwire has are far fewer. */
const unhandledNamesMax = 1_000;

/**
 * With the id of an event, its requests would not be recognized. With the id of a subscription, all its deliveries but one would be
 * duplicates.
 */
const otherGid = /^gid:\/\/[^/]*\/(?!WebhookDelivery\/)/;

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
