/** The payloads of another team, in the shape that `pnpm generate` gives a package of payloads. */
import * as z from 'zod';

const orderPlaced = z.object({
  id: z.string(),
  type: z.literal('order.placed'),
  version: z.literal('2026-03-01'),
  timestamp: z.string(),
  data: z.object({ orderId: z.string(), total: z.number() }),
});

const webhookTest = z.object({
  id: z.string(),
  type: z.literal('webhook.test'),
  version: z.literal('2026-11-01'),
  timestamp: z.string(),
  data: z.object({ message: z.string() }),
});

export type WebhookEvent = z.infer<typeof orderPlaced> | z.infer<typeof webhookTest>;

export type WebhookBody =
  | { readonly kind: 'event'; readonly event: WebhookEvent }
  | { readonly kind: 'unknown_event'; readonly event: z.infer<typeof envelope> }
  | { readonly kind: 'verification'; readonly verificationToken: string }
  | { readonly kind: 'malformed'; readonly problems: readonly string[] };

const envelope = z.object({
  id: z.string(),
  type: z.string(),
  version: z.string(),
  timestamp: z.string(),
  data: z.record(z.string(), z.unknown()),
});
const handshake = z.strictObject({ verification_token: z.string() });
const bodies: ReadonlyMap<string, typeof orderPlaced | typeof webhookTest> = new Map<
  string,
  typeof orderPlaced | typeof webhookTest
>([
  ['order.placed/2026-03-01', orderPlaced],
  ['webhook.test/2026-11-01', webhookTest],
]);

export const parsedEventNames = (): readonly string[] => [...bodies.keys()];

export const currentVersion = (type: string): string => (type === 'order.placed' ? '2026-03-01' : '2026-11-01');

export function findEventVersion(type: string, version: string) {
  const body = bodies.get(`${type}/${version}`);
  return body && { body };
}

export function parseWebhookBody(rawBody: string | Uint8Array): WebhookBody {
  let value: unknown;
  try {
    value = JSON.parse(
      typeof rawBody === 'string' ? rawBody : new TextDecoder('utf-8', { fatal: true }).decode(rawBody),
    );
  } catch {
    return { kind: 'malformed', problems: ['body: not valid JSON in UTF-8'] };
  }
  const token = handshake.safeParse(value);
  if (token.success) return { kind: 'verification', verificationToken: token.data.verification_token };
  const opened = envelope.safeParse(value);
  if (!opened.success) return malformed(opened.error);
  const body = bodies.get(`${opened.data.type}/${opened.data.version}`);
  if (body === undefined) return { kind: 'unknown_event', event: opened.data };
  const event = body.safeParse(value);
  return event.success ? { kind: 'event', event: event.data } : malformed(event.error);
}

function malformed({ issues }: z.ZodError): WebhookBody {
  return { kind: 'malformed', problems: issues.map(({ path, message }) => `${path.join('.')}: ${message}`) };
}
