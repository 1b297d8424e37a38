import { eventOf } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import * as common from '@deedwire/webhook-contract';
import type { ParsedBody, UnknownEvent } from '@deedwire/webhook-receiver';

// The payloads of the test service, in the shape that `pnpm generate` gives a package of payloads.

type Order = { item: string; note: string | null };

/** An event of the type `order.placed` at its current version. */
export type OrderPlaced = UnknownEvent & {
  type: 'order.placed';
  version: '2026-11-01';
  data: Order & { orderId: string; placedAt: string };
};

type OrderPlacedLater = UnknownEvent & {
  type: 'order.placed';
  version: '2027-02-01';
  data: { order: Order & { id: string }; placedAt: string };
};

const versions = new Map(eventOf(testService, 'order.placed')?.versions.map(({ version, data }) => [version, data]));

const isOrderPlaced = (event: UnknownEvent): event is OrderPlaced | OrderPlacedLater =>
  event.type === 'order.placed' && versions.get(event.version)?.safeParse(event.data).success === true;

export const parsedEventNames = (): readonly string[] => [
  ...common.parsedEventNames(),
  ...[...versions.keys()].map((version) => `order.placed/${version}`),
];

export function parseWebhookBody(
  rawBody: string | Uint8Array,
): ParsedBody<common.WebhookEvent | OrderPlaced | OrderPlacedLater> {
  const parsed = common.parseWebhookBody(rawBody);
  if (parsed.kind !== 'unknown_event' || parsed.event.type !== 'order.placed') return parsed;
  return isOrderPlaced(parsed.event)
    ? { kind: 'event', event: parsed.event }
    : { kind: 'malformed', problems: ['data: not that of order.placed'] };
}
