import { z } from 'zod';
import type { EventType } from '../../src/payloads/event-types.ts';
import { publishedSchema } from '../../src/payloads/payload-schema.ts';
import { supportedKinds } from '../../src/payloads/supported-kinds.ts';

const members = supportedKinds.map(({ schema, ...kind }, index) => ({
  ...kind,
  name: `field${index}`,
  schema: schema.describe(`What ${index} is.`),
}));

const data = z
  .object(Object.fromEntries(members.map(({ name, schema }) => [name, schema])))
  .describe('The event data.');
const [type, version] = ['order.paid', '2027-06-01'] as const;

/** A contract, of no published package, with a member of each kind that a payload can have. */
export const body = z
  .object({
    id: z
      .string()
      .regex(/^gid:\/\/[a-z][a-z0-9-]*\/WebhookEvent\/[1-9][0-9]*$/)
      .describe('The event.'),
    type: z.literal(type).describe('The event type.'),
    version: z.literal(version).describe('The version of this payload.'),
    timestamp: z.iso.datetime({ precision: 3 }).describe('When the event happened.'),
    data,
  })
  .meta({ title: 'OrderPaid', description: 'An order was paid.' });

export const typical = {
  id: 'gid://service/WebhookEvent/1',
  type,
  version,
  timestamp: '2027-06-03T09:30:00.123Z',
  data: Object.fromEntries(members.map((member) => [member.name, member.typical])),
};

export const everyKind: EventType = {
  type,
  description: 'An order was paid.',
  interfaces: ['customer'],
  versions: [
    {
      version,
      status: 'current',
      deprecatedOn: null,
      sunsetOn: null,
      body,
      schema: publishedSchema(body, 'order.paid.ts'),
      typical,
    },
  ],
};
