import { z } from 'zod';
import { findEventVersion } from './event-types.ts';
import type { WebhookEvent } from './generated/webhook-event.ts';

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

const envelope = z.object({
  id: z.string(),
  type: z.string(),
  version: z.string(),
  timestamp: z.string(),
  data: z.looseObject({}),
}) satisfies z.ZodType<UnknownWebhookEvent>;

const verification = z.strictObject({ verification_token: z.string() });

/**
 * Parses the raw body of a request to a callback URL. It removes fields that the payload version does not define, and
 * never throws. Verify the signature over the same bytes first: this function does not authenticate the sender.
 */
export function parseWebhookBody(rawBody: string | Uint8Array): WebhookBody {
  const json = parseJson(rawBody);
  if (!json.ok) return { kind: 'malformed', problems: ['body: not valid JSON in UTF-8'] };

  const token = verification.safeParse(json.value);
  if (token.success) return { kind: 'verification', verificationToken: token.data.verification_token };

  const opened = envelope.safeParse(json.value);
  if (!opened.success) return malformed(opened.error);

  const known = findEventVersion(opened.data.type, opened.data.version);
  if (known === undefined) return { kind: 'unknown_event', event: opened.data };

  const event = known.body.safeParse(json.value);
  if (!event.success) return malformed(event.error);
  return { kind: 'event', event: event.data };
}

function parseJson(rawBody: string | Uint8Array): { ok: true; value: unknown } | { ok: false } {
  try {
    const text = typeof rawBody === 'string' ? rawBody : new TextDecoder('utf-8', { fatal: true }).decode(rawBody);
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

function malformed(error: z.ZodError): WebhookBody {
  return {
    kind: 'malformed',
    problems: error.issues.map(({ path, message }) => `${path.length === 0 ? 'body' : path.join('.')}: ${message}`),
  };
}
