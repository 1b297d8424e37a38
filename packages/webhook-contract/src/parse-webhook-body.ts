import { validators } from './generated/validators.ts';
import type { WebhookEvent } from './generated/webhook-event.ts';
import { isObject, object, record, text } from './validation.ts';

/**
 * An event whose type or version this release of the package does not support. Respond with a 2xx status and ignore the
 * event.
 */
export interface UnknownWebhookEvent {
  id: string;
  type: string;
  version: string;
  /** RFC 3339. */
  timestamp: string;
  data: Record<string, unknown>;
}

export type WebhookBody =
  | { readonly kind: 'event'; readonly event: WebhookEvent }
  | { readonly kind: 'unknown_event'; readonly event: UnknownWebhookEvent }
  /** The handshake of a new subscription. Respond with 200 and the JSON `{"verification_token": verificationToken}`. */
  | { readonly kind: 'verification'; readonly verificationToken: string }
  /** A body that Deedwire never sends. `problems` are human-readable. */
  | { readonly kind: 'malformed'; readonly problems: readonly string[] };

const envelope = object<UnknownWebhookEvent>({ id: text, type: text, version: text, timestamp: text, data: record });

/**
 * Parses the raw body of a request to a callback URL. It removes fields that the payload version does not define, and
 * never throws. Verify the signature over the same bytes first: this function does not authenticate the sender.
 */
export function parseWebhookBody(rawBody: string | Uint8Array): WebhookBody {
  let body: unknown;
  try {
    body = JSON.parse(
      typeof rawBody === 'string' ? rawBody : new TextDecoder('utf-8', { fatal: true }).decode(rawBody),
    );
  } catch {
    return { kind: 'malformed', problems: ['body: not valid JSON in UTF-8'] };
  }

  const verificationToken = verificationTokenOf(body);
  if (verificationToken !== null) return { kind: 'verification', verificationToken };

  const opened = envelope(body, '');
  if (!opened.ok) return { kind: 'malformed', problems: opened.problems };

  const { type, version } = opened.value;
  const validate = validators.get(`${type}/${version}`);
  if (validate === undefined) return { kind: 'unknown_event', event: opened.value };

  const event = validate(body, '');
  return event.ok ? { kind: 'event', event: event.value } : { kind: 'malformed', problems: event.problems };
}

/** Returns whether this release of the package parses events of the type and version, and does not return an unknown event. */
export function isParsedEvent(type: string, version: string): boolean {
  return validators.has(`${type}/${version}`);
}

/** The events that this release of the package parses, as `<type>/<version>`. */
export function parsedEventNames(): readonly string[] {
  return [...validators.keys()];
}

/** Null unless the body is an object with a token and nothing else. */
function verificationTokenOf(body: unknown): string | null {
  if (!isObject(body) || Object.keys(body).length !== 1) return null;
  const { verification_token: token } = body;
  return typeof token === 'string' ? token : null;
}
