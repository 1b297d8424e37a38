// The contract of `referral.declined` at 2026-11-01, written by hand.
// Import only zod, so that no other change affects the contract.
import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe("The event's global identifier, the same for every subscription."),
    type: z.literal('referral.declined').describe('The event type.'),
    version: z.literal('2026-11-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        referralId: gid('Referral').describe("The referral's global identifier."),
        externalReference: z
          .string()
          .nullable()
          .describe('Your own reference for the referred client. Null if you did not provide one.'),
        declinedAt: time.describe('When the referral was declined, as an RFC 3339 timestamp in UTC with milliseconds.'),
        reason: z.string().nullable().describe('Why the referral was declined. Null if no reason was given.'),
      })
      .describe('The event data.'),
  })
  .meta({ title: 'ReferralDeclined', description: 'A referral was declined.' });
