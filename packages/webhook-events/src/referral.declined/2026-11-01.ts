// The contract of `referral.declined` at 2026-11-01, written by hand. Nothing is imported but zod, so that nothing changes under it.
import { z } from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe(
      "The event's global identifier, the same for each subscription. To drop repeated deliveries compare the `webhook-id` header.",
    ),
    type: z.literal('referral.declined').describe('The event type.'),
    version: z.literal('2026-11-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened: RFC 3339 in UTC with milliseconds.'),
    data: z
      .object({
        referralId: gid('Referral').describe("The referral's global identifier."),
        externalReference: z
          .string()
          .nullable()
          .describe('Your own reference for the client. Null when none was given.'),
        declinedAt: time.describe('When the referral was declined: RFC 3339 in UTC with milliseconds.'),
        reason: z
          .string()
          .nullable()
          .describe('Why, in the words of whoever declined it. Null when no reason was given.'),
      })
      .describe('What happened.'),
  })
  .meta({ title: 'ReferralDeclined' });
