import { z } from 'zod';
import { findEventVersion } from './event-types.ts';
import type { WebhookEvent } from './generated/webhook-event.ts';

/** An event of a type or a version that this release of the package does not know: acknowledge it, then ignore it. */
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
  /** The callback URL is being verified: answer 200 with `{"verification_token": verificationToken}` as JSON. */
  | { readonly kind: 'verification'; readonly verificationToken: string }
  /** Not what this service sends. `problems` are for people. */
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
 * Reads the raw body of a request to a callback URL. Verify its signature first, over the same bytes: this function says
 * what the body holds, not who sent it. Fields that the payload's version does not list are dropped. Throws nothing.
 */
export function parseWebhookBody(rawBody: string | Uint8Array): WebhookBody {
  const json = parseJson(rawBody);
  if (!json.ok) return { kind: 'malformed', problems: ['the body is not JSON in UTF-8'] };

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
