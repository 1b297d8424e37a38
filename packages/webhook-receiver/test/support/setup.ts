import type {
  UnhandledEvent,
  UnsignedHeaders,
  WebhookReceiver,
  WebhookReceiverOptions,
  WebhookStore,
} from '@deedwire/webhook-receiver';
import { logLinesTo } from './log.ts';
// Also bundled for other runtimes, so it imports nothing by a path into `src`.
import * as events from './order-events/index.ts';

export type Options = WebhookReceiverOptions<typeof events, undefined, unknown>;

export type CreateReceiver = (options: Options) => WebhookReceiver;

/** What a case asks of a receiver. It is JSON, so that a process of another runtime can get it. */
export interface Setup {
  readonly secrets: readonly string[];
  /** The secrets come from an asynchronous function. */
  readonly loadsSecrets?: boolean;
  readonly awaitingSecret?: boolean;
  readonly storeFails?: boolean;
  readonly rejectUnhandled?: boolean;
  readonly unverifiedHandshakes?: boolean;
  readonly bodyTimeoutMs?: number;
}

/**
 * What is mounted before the receiver: nothing, a parser that keeps the bytes or leaves the body to the receiver, or something
 * that consumes the body.
 */
export type Mount = 'consumed' | 'parser' | 'plain';

/** What a handler got. */
export interface Call {
  readonly event: UnhandledEvent;
  readonly id: string;
  readonly unsigned: UnsignedHeaders;
}

/** The test, which sees what the handlers get and decides what becomes of it. */
export interface Hooks {
  handle(call: Call): Promise<void>;
  handleUnknown(event: UnhandledEvent): Promise<void>;
}

/** What stays in the process of the receiver. */
export interface Recorded {
  readonly logged: string[];
  /** Of the handlers, by the id of the delivery. */
  readonly signals: Map<string, AbortSignal>;
}

const failingStore: WebhookStore = {
  once: () => Promise.reject(new Error('connect ECONNREFUSED')),
  forget: () => Promise.reject(new Error('connect ECONNREFUSED')),
};

export function optionsOf(setup: Setup, store: WebhookStore, hooks: Hooks, { logged, signals }: Recorded): Options {
  const { secrets, loadsSecrets = false, storeFails = false, ...options } = setup;
  return {
    ...options,
    events,
    prefix: 'X-Service',
    secrets: loadsSecrets ? async () => secrets : secrets,
    store: storeFails ? failingStore : store,
    on: {
      'order.placed': {
        '2026-11-01': (event, { id, signal, meta }) => {
          signals.set(id, signal);
          return hooks.handle({ event, id, unsigned: meta.unsigned });
        },
      },
    },
    onUnhandled: (event) => hooks.handleUnknown(event),
    log: logLinesTo(logged),
  };
}
