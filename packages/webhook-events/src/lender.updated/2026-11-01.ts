// The contract of `lender.updated` at 2026-11-01, written by hand.
// Import only zod, so that no other change affects the contract.
import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe("The event's global identifier, the same for every subscription."),
    type: z.literal('lender.updated').describe('The event type.'),
    version: z.literal('2026-11-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        lenderId: gid('Lender').describe("The lender's global identifier."),
        name: z.string().describe('The name of the lender after the change.'),
        changed: z
          .array(z.string())
          .nullable()
          .exactOptional()
          .describe(
            'The paths of the values in `data` that the change replaced, sorted, for example `name`. Empty if this version contains none of them. Null if they are not known, as of an event that is older than this field: anything may have changed.',
          ),
      })
      .describe('The event data.'),
  })
  .meta({ title: 'LenderUpdated', description: 'The name of the lender was changed.' });
