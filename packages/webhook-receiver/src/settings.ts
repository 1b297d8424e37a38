import { checkTimeouts } from './deadline.ts';
import { prefixProblem } from './event-headers.ts';
import { checkEvents, type EventPackage } from './events.ts';
import { checkHandlers } from './handlers.ts';
import type { InboxReceiverOptions, WebhookReceiverOptions } from './options.ts';
import { secretsProblem } from './secrets.ts';

/** The options of any receiver. A handler gets events of its type and version only. */
export type ReceiverOptions<Context> =
  | InboxReceiverOptions<EventPackage, Context>
  | WebhookReceiverOptions<EventPackage, unknown, Context>;

type Given<Context> = WebhookReceiverOptions<EventPackage, unknown, Context>;

/** What an event with a handler is given to. */
type Target = Pick<InboxReceiverOptions<EventPackage, unknown>, 'inbox'> | Pick<Given<unknown>, 'on' | 'store'>;

/** The options with their defaults. */
export interface Settings<Context>
  extends
    Pick<Given<Context>, 'events' | 'keepUnhandled' | 'onResult' | 'onUnhandled' | 'prefix'>,
    Required<
      Pick<
        Given<Context>,
        | 'awaitingSecret'
        | 'bodyTimeoutMs'
        | 'handlerTimeoutMs'
        | 'key'
        | 'log'
        | 'rejectUnhandled'
        | 'secrets'
        | 'storeTimeoutMs'
        | 'unverifiedHandshakes'
      >
    > {
  readonly target: Target;
  /** What an error says of a store that took longer than `storeTimeoutMs`. */
  readonly tooLate: string;
}

export const noSecret = 'secrets is empty. Set awaitingSecret until the subscription exists.';

/** @throws {TypeError} if an option is malformed */
export function readSettings<Context>(options: ReceiverOptions<Context>): Settings<Context> {
  const {
    events,
    prefix,
    secrets,
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
  } = { secrets: (): readonly string[] => [], ...options };
  if (typeof secrets !== 'function') {
    const problem = secretsProblem(secrets);
    if (problem !== null) throw new TypeError(problem);
    if (secrets.length === 0 && !awaitingSecret) throw new TypeError(noSecret);
  }
  const ofPrefix = prefix === undefined ? null : prefixProblem(prefix);
  if (ofPrefix !== null) throw new TypeError(`prefix ${ofPrefix}`);
  if (key !== 'webhook-id' && key !== 'event.id') throw new TypeError(`key must be 'webhook-id' or 'event.id'.`);
  checkEvents(events);
  if (!('inbox' in options)) checkHandlers(events, options.on);
  if (keepUnhandled !== undefined && rejectUnhandled)
    throw new TypeError('Set keepUnhandled or rejectUnhandled, not both.');
  checkTimeouts({ bodyTimeoutMs, handlerTimeoutMs, storeTimeoutMs });
  return {
    events,
    target: 'inbox' in options ? { inbox: options.inbox } : { store: options.store, on: options.on },
    prefix,
    secrets,
    key,
    ...(onUnhandled && { onUnhandled }),
    ...(keepUnhandled && { keepUnhandled }),
    rejectUnhandled,
    awaitingSecret,
    unverifiedHandshakes,
    bodyTimeoutMs,
    handlerTimeoutMs,
    storeTimeoutMs,
    ...(onResult && { onResult }),
    log,
    tooLate: `It took longer than storeTimeoutMs (${storeTimeoutMs} ms).`,
  };
}
