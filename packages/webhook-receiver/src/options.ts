import type { EventOf, EventPackage } from './events.ts';
import type { Handlers, UnhandledEvent } from './handlers.ts';
import type { KeptEvents } from './kept-events.ts';
import type { ReceiverLog } from './log.ts';
import type { ReceiverResult } from './report.ts';
import type { Secrets } from './secrets.ts';
import type { WebhookStore } from './store.ts';
import type { WebhookInbox } from './webhook-inbox.ts';

export interface WebhookReceiverOptions<Events extends EventPackage, Transaction, Context> {
  /** The package with the payloads of the service, which the types of the handlers come from. */
  events: Events;
  /** Omit it if events are only pulled: requests then get 503. */
  secrets?: Secrets<Context>;
  /**
   * What the names of the service's own headers begin with, for example `X-Service`. Without it, the receiver verifies the headers of
   * Standard Webhooks only, and `meta.unsigned` is empty.
   */
  prefix?: string | undefined;
  store: WebhookStore<Transaction>;
  on: Handlers<EventOf<Events>, Transaction>;
  /**
   * What a delivery is remembered by. `webhook-id` is one for each delivery. With `event.id`, an event is processed once although
   * several subscriptions deliver it: set it while one subscription replaces another. Each delivery is then remembered by both, so
   * that one that is retried after `key` was set or removed is not processed twice. Defaults to `webhook-id`.
   */
  key?: 'event.id' | 'webhook-id';
  /** Called for an authentic event that has no handler, before it is acknowledged. If it throws, the response is 500. */
  onUnhandled?: (event: UnhandledEvent<EventOf<Events>>, details: { id: string }) => Promise<void> | void;
  /**
   * Keeps events without a handler, for example `postgresKeptEvents(pool)`, until a handler is deployed and `processKept` is called.
   * The response is 202. Not together with `rejectUnhandled`.
   */
  keepUnhandled?: KeptEvents;
  /** Responds 501 to events without a handler, so that Deedwire retries them. Defaults to false: they are acknowledged. */
  rejectUnhandled?: boolean;
  /**
   * Lets `secrets` be empty until the subscription exists, whose secret Deedwire generates. Meanwhile, anyone's handshake is
   * answered, and events are refused. Defaults to false.
   */
  awaitingSecret?: boolean;
  /**
   * Answers handshakes whose signature does not verify. Needed only to create another subscription with a generated secret at the
   * same URL. Defaults to false.
   */
  unverifiedHandshakes?: boolean;
  /** How long a body may take to arrive, in milliseconds. Defaults to 10,000. */
  bodyTimeoutMs?: number;
  /**
   * How long a handler may run, in milliseconds. Afterwards its `signal` aborts, the store forgets the delivery and closes the
   * connection of the transaction, and the response is 500. Defaults to 60,000. Deedwire waits for 5 seconds, or as the subscription says; a handler that
   * takes longer finishes, and the retry is a duplicate.
   */
  handlerTimeoutMs?: number;
  /**
   * How long the store or the inbox may take, without the handler, and how long the function for `secrets` may take, in
   * milliseconds. Afterwards the response is 503, or 500. Defaults to 4,500.
   */
  storeTimeoutMs?: number;
  /** Called with each response, for metrics. If it throws, nothing changes. */
  onResult?: (result: ReceiverResult) => unknown;
  /** A log of pino or Fastify, or `console`, which is the default. If it throws, nothing changes. */
  log?: ReceiverLog;
}

/** The options of a receiver whose handlers run after the response. The inbox has the handlers. */
export interface InboxReceiverOptions<Events extends EventPackage, Context> extends Omit<
  WebhookReceiverOptions<Events, undefined, Context>,
  'on' | 'store'
> {
  inbox: WebhookInbox;
}
