// The contract of `{{type}}` at {{version}}, written by hand.
// Import only zod, so that no other change affects the contract. docs/payloads.md lists what a payload can have.
import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe("The event's global identifier, the same for every subscription."),
    type: z.literal('{{type}}').describe('The event type.'),
    version: z.literal('{{version}}').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        todo: z.string().describe('TODO: the fields. Describe each of them, and what null means.'),
{{#if isUpdate}}
        changed: z
          .array(z.string())
          .nullable()
          .describe(
            'The paths of the values in `data` that the change replaced, sorted. Empty if this version contains none of them. Null if it is not known.',
          ),
{{/if}}
      })
      .describe('The event data.'),
  })
  .meta({ title: '{{pascalCase type}}', description: 'TODO: what happened.' });
