// The contract of `referral.converted` at 2027-02-01, written by hand. Nothing is imported but zod, so that nothing changes under it.
// Against 2026-11-01: the referral and the matter are objects in place of flat identifiers.
import { z } from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe(
      "The event's global identifier, the same for each subscription. To drop repeated deliveries compare the `webhook-id` header.",
    ),
    type: z.literal('referral.converted').describe('The event type.'),
    version: z.literal('2027-02-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened: RFC 3339 in UTC with milliseconds.'),
    data: z
      .object({
        referral: z
          .object({
            id: gid('Referral').describe("The referral's global identifier."),
            status: z
              .string()
              .describe(
                'How the referral stood after the event: `CONVERTED`. More values may be added to the statuses.',
              ),
            externalReference: z
              .string()
              .nullable()
              .describe('Your own reference for the client. Null when none was given.'),
          })
          .describe('The referral that was converted.'),
        matter: z
          .object({
            id: gid('Matter').describe("The matter's global identifier."),
            reference: z.string().describe('The reference that people use for the matter.'),
            openedAt: time.describe('When the matter was opened: RFC 3339 in UTC with milliseconds.'),
          })
          .describe('The matter that the referral was converted into.'),
      })
      .describe('What happened.'),
  })
  .meta({ title: 'ReferralConverted' });
