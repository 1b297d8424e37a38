// The contract of `team_member.updated` at 2026-11-01, written by hand. Nothing is imported but zod, so that nothing changes under it.
import { z } from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe(
      "The event's global identifier, the same for each subscription. To drop repeated deliveries compare the `webhook-id` header.",
    ),
    type: z.literal('team_member.updated').describe('The event type.'),
    version: z.literal('2026-11-01').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened: RFC 3339 in UTC with milliseconds.'),
    data: z
      .object({
        lenderId: gid('Lender').describe("The lender's global identifier."),
        teamMember: z
          .object({
            id: gid('TeamMember').describe("The team member's global identifier."),
            firstName: z.string().describe('The given name.'),
            lastName: z.string().describe('The family name.'),
            email: z.string().describe('The e-mail address.'),
          })
          .describe('The team member as of this event.'),
      })
      .describe('What happened.'),
  })
  .meta({
    title: 'TeamMemberUpdated',
    description: "The name or the e-mail address of a lender's team member was changed.",
  });
