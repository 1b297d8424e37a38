/** The payloads of another team, in the shape that `pnpm generate` gives a package of payloads. */
import * as own from '@deedwire/webhook-contract';
import * as z from 'zod';

const text = z.string();
const id = text.regex(/^gid:\/\/[a-z-]+\/Order\/[1-9]\d*$/);
const order = z.object({ id, item: text, note: text.nullable() });

const placed = <Version extends string, Data extends z.ZodType>(version: Version, data: Data) =>
  z.object({ id: text, type: z.literal('order.placed'), version: z.literal(version), timestamp: text, data });

const orderPlaced = placed('2026-11-01', z.object({ orderId: id, item: text, note: text.nullable(), placedAt: text }));
const nestedOrderPlaced = placed('2027-02-01', z.object({ order, placedAt: text }));

type Body = typeof orderPlaced | typeof nestedOrderPlaced;

export type WebhookEvent = own.WebhookEvent | z.infer<Body>;

export type WebhookBody =
  | Exclude<own.WebhookBody, { kind: 'event' }>
  | { readonly kind: 'event'; readonly event: WebhookEvent };

const bodies = new Map<string, Body>([
  ['order.placed/2026-11-01', orderPlaced],
  ['order.placed/2027-02-01', nestedOrderPlaced],
]);

export const parsedEventNames = (): readonly string[] => [...own.parsedEventNames(), ...bodies.keys()].toSorted();

export const currentVersion = (type: string): string =>
  type === 'order.placed' ? '2026-11-01' : own.currentVersion(type);

export function findEventVersion(type: string, version: string) {
  const body = bodies.get(`${type}/${version}`);
  return body === undefined ? own.findEventVersion(type, version) : { body };
}

export function parseWebhookBody(rawBody: string | Uint8Array): WebhookBody {
  const parsed = own.parseWebhookBody(rawBody);
  if (parsed.kind !== 'unknown_event') return parsed;
  const body = bodies.get(`${parsed.event.type}/${parsed.event.version}`);
  if (body === undefined) return parsed;
  const { data: event, error } = body.safeParse(parsed.event);
  if (event !== undefined) return { kind: 'event', event };
  const problems = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return { kind: 'malformed', problems };
}
