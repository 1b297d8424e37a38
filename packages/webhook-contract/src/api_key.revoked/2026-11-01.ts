// The contract of `api_key.revoked` at 2026-11-01, written by hand.
// Import only zod, so that no other change affects the contract.
import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe("The event's global identifier, the same for every subscription."),
    type: z.literal('api_key.revoked').describe('The event type.'),
    version: z.literal('2026-11-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        apiKey: z
          .object({
            id: z.string().describe('The key id: the part of the key between the interface and the secret.'),
            name: z.string().nullable().describe('What you call the key. Null if it has no name.'),
            abilities: z
              .array(z.string())
              .describe('What the key may do, as `ApiKeyAbility`. New abilities may be added.'),
            expiresAt: time
              .nullable()
              .describe(
                'When the key would have expired, as an RFC 3339 timestamp in UTC with milliseconds. Null: never.',
              ),
          })
          .describe('The key that was revoked.'),
        revokedAt: time.describe('When the key was revoked, as an RFC 3339 timestamp in UTC with milliseconds.'),
      })
      .describe('The event data.'),
  })
  .meta({ title: 'ApiKeyRevoked', description: 'An API key was revoked.' });
