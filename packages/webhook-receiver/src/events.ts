/** What all events have. */
export interface AnyEvent {
  readonly id: string;
  readonly type: string;
  readonly version: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly data: object;
}

/** An event whose type or version the package of the events does not support. */
export interface UnknownEvent extends AnyEvent {
  readonly data: Record<string, unknown>;
}

/** What a body is. */
export type ParsedBody<Event extends AnyEvent = AnyEvent> =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'unknown_event'; readonly event: UnknownEvent }
  | { readonly kind: 'verification'; readonly verificationToken: string }
  | { readonly kind: 'malformed'; readonly problems: readonly string[] };

/** A package of payloads, such as `@deedwire/webhook-events`: all of it (`import * as events`), or these two functions. */
export interface EventPackage {
  readonly parseWebhookBody: (rawBody: string | Uint8Array) => ParsedBody;
  /** `<type>/<version>` of each event that it parses. */
  readonly parsedEventNames: () => readonly string[];
}

/** The events of a package. */
export type EventOf<Events extends EventPackage> = Extract<
  ReturnType<Events['parseWebhookBody']>,
  { readonly kind: 'event' }
>['event'];

/** @throws {TypeError} if it has not these functions: JavaScript can pass anything */
export function checkEvents(events: EventPackage | undefined): void {
  if (typeof events?.parseWebhookBody !== 'function' || typeof events.parsedEventNames !== 'function')
    throw new TypeError(
      'events must be a package of payloads, such as all of @deedwire/webhook-events: import * as events.',
    );
}
