// The contract of `referral.converted` at 2027-02-01, written by hand.
// Import only zod, so that no other change affects the contract.
// Against 2026-11-01: the referral and the matter are objects in place of flat identifiers.
import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe("The event's global identifier, the same for every subscription."),
    type: z.literal('referral.converted').describe('The event type.'),
    version: z.literal('2027-02-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        referral: z
          .object({
            id: gid('Referral').describe("The referral's global identifier."),
            status: z
              .string()
              .describe('The status of the referral after the event: `CONVERTED`. New statuses may be added.'),
            externalReference: z
              .string()
              .nullable()
              .describe('Your own reference for the referred client. Null if you did not provide one.'),
          })
          .describe('The referral that was converted.'),
        matter: z
          .object({
            id: gid('Matter').describe("The matter's global identifier."),
            reference: z.string().describe('The human-readable reference of the matter, for example `M-2026-000042`.'),
            openedAt: time.describe('When the matter was opened, as an RFC 3339 timestamp in UTC with milliseconds.'),
          })
          .describe('The matter that the referral was converted into.'),
      })
      .describe('The event data.'),
  })
  .meta({ title: 'ReferralConverted', description: 'A referral was converted into a matter.' });
