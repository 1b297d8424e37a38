import type { AnyEvent, EventPackage, UnknownEvent } from './events.ts';

/** What a request says in headers that are not signed. Anyone who can repeat a signed body can change them. */
export interface UnsignedHeaders {
  /** The gid of the subscription. Null if the header is missing. */
  readonly subscriptionId: string | null;
  /** Counts the deliveries of the subscription from 1. Null if the header is missing or not a number. */
  readonly sequence: number | null;
  /** The number of this attempt, from 1. Null if the header is missing or not a number. */
  readonly attempt: number | null;
  /**
   * Whether `sendTestWebhookEvent` sent the event: it contains sample data, whose ids belong to no record. Undefined in a context
   * that an application builds, and for an event that a release before this one stored.
   */
  readonly isTest?: boolean;
  /**
   * Whether a retry or a replay that the owner of the subscription asked for sends the delivery again. False for a delivery that was
   * pulled. Undefined as `isTest` is.
   */
  readonly isReplay?: boolean;
}

/** How a delivery reached the receiver: in a request of Deedwire, or read from its API by the application. More may be added. */
export type DeliverySource = 'pull' | 'push';

/** What a handler knows beside the event. */
export interface HandlerContext<Transaction> {
  /** The `webhook-id` of the delivery, or the id of the event with `key: 'event.id'`. The same on every attempt and after a replay. */
  readonly id: string;
  /** Changes made in it are kept only together with the note that the delivery is processed. Undefined if the store has none. */
  readonly transaction: Transaction;
  /**
   * Aborts when the handler has taken `handlerTimeoutMs`, when the store has lost its connection, so that the transaction cannot
   * be committed, and when the receiver is closed: a handler may then finish anyway, because `close` waits for it.
   */
  readonly signal: AbortSignal;
  readonly meta: {
    /** Always set by a receiver. Optional, so that a context that an application builds for its tests still compiles. */
    readonly source?: DeliverySource;
    /** All null for a delivery that was pulled, except `isReplay`, and `isTest`, which the application passes to `processPulled`. */
    readonly unsigned: UnsignedHeaders;
  };
}

/** The events of one type at one version. */
export type EventAt<Event extends AnyEvent, Type extends Event['type'], Version extends string> = Extract<
  Event,
  { type: Type; version: Version }
>;

export type Handler<Event, Transaction> = (event: Event, context: HandlerContext<Transaction>) => unknown;

/** One function for each event type and version. A type or version that does not exist, or is retired, does not compile. */
export type Handlers<Event extends AnyEvent, Transaction> = {
  readonly [Type in Event['type']]?: {
    readonly [Version in Extract<Event, { type: Type }>['version']]?: Handler<
      EventAt<Event, Type, Version>,
      Transaction
    >;
  };
};

/** An event without a handler: of another type or version, or unknown to the package of the events. */
export type UnhandledEvent<Event extends AnyEvent = AnyEvent> = UnknownEvent | Event;

export type AnyHandler<Transaction> = Handler<AnyEvent, Transaction>;

/** How the log names a type and version. Those of unknown events come from the sender. */
export function eventName({ type, version }: AnyEvent): string {
  return `${type.slice(0, 100)} ${version.slice(0, 20)}`;
}

/** How the log names a delivery. */
export function deliveryName(event: AnyEvent, id: string): string {
  return `${eventName(event)} (${id})`;
}

/**
 * A misspelt name in JavaScript does not fail to compile, and its events would be acknowledged without an effect.
 *
 * @throws {TypeError} if a type or a version is unknown, or a handler is no function
 */
export function checkHandlers({ parsedEventNames }: EventPackage, on: unknown): void {
  const names = parsedEventNames();
  for (const [type, versions] of entries(on))
    for (const [version, handler] of entries(versions)) {
      if (!names.includes(`${type}/${version}`))
        throw new TypeError(
          `on: there is no event ${type}/${version}. The package of the events has: ${names.join(', ')}.`,
        );
      if (typeof handler !== 'function') throw new TypeError(`on: ${type} ${version} is no function.`);
    }
}

/** The newest version of each type that has a handler: a subscription pins one. */
export function pinsOf(on: unknown): { type: string; version: string }[] {
  return entries(on).flatMap(([type, versions]) => {
    const version = entries(versions).reduce((newest, [name]) => (name > newest ? name : newest), '');
    return version === '' ? [] : [{ type, version }];
  });
}

function entries(object: unknown): [name: string, value: unknown][] {
  if (typeof object !== 'object' || object === null) throw new TypeError('on must be an object of objects.');
  return Object.entries(object).filter(([, value]) => value !== undefined);
}

/** The handler of an event, whose names are known, so that no object inherits them. */
export function findHandler<Transaction>(
  handlers: Handlers<AnyEvent, Transaction>,
  { type, version }: AnyEvent,
): AnyHandler<Transaction> | null {
  const versions: Readonly<Record<string, unknown>> = handlers[type] ?? {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Handlers` gives each type and version its event
  return (versions[version] as AnyHandler<Transaction> | undefined) ?? null;
}
