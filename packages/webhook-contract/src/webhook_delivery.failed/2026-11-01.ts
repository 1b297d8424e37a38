// The contract of `webhook_delivery.failed` at 2026-11-01, written by hand.
// Import only zod, so that no other change affects the contract.
import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe("The event's global identifier, the same for every subscription."),
    type: z.literal('webhook_delivery.failed').describe('The event type.'),
    version: z.literal('2026-11-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        webhookSubscription: z
          .object({
            id: gid('WebhookSubscription').describe("The subscription's global identifier."),
            name: z.string().nullable().describe('What you call the subscription. Null if it has no name.'),
          })
          .describe('The subscription whose deliveries failed.'),
        since: time.describe(
          'When the first of these deliveries failed, as an RFC 3339 timestamp in UTC with milliseconds.',
        ),
        failedCount: z
          .int()
          .describe(
            'How many deliveries of the subscription failed within 5 minutes from `since`, at most 10,000: another event reports more. Those that were retried meanwhile, of `webhook_delivery.failed` and of the `webhook_subscription.` types are not counted.',
          ),
        webhookDeliveryIds: z
          .array(gid('WebhookDelivery'))
          .describe('The global identifiers of these deliveries, oldest first, at most 10.'),
      })
      .describe('The event data.'),
  })
  .meta({
    title: 'WebhookDeliveryFailed',
    description: 'Deliveries of a subscription have failed, and are not attempted again.',
  });
