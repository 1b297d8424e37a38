// The contract of `webhook.test` at 2026-11-01, written by hand.
// Import only zod, so that no other change affects the contract.
import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe("The event's global identifier, the same for every subscription."),
    type: z.literal('webhook.test').describe('The event type.'),
    version: z.literal('2026-11-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        message: z.string().describe('A human-readable message.'),
      })
      .describe('The event data.'),
  })
  .meta({ title: 'WebhookTest', description: 'A test event was requested.' });
