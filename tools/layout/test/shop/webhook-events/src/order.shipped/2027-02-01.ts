import * as z from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(`^gid://[a-z][a-z0-9-]*/${typeName}/[1-9][0-9]*$`));

export const body = z
  .object({
    id: gid('WebhookEvent').describe('The event.'),
    type: z.literal('order.shipped').describe('The event type.'),
    version: z.literal('2027-02-01').describe('The version of this payload.'),
    timestamp: z.iso.datetime({ precision: 3 }).describe('When the event happened.'),
    data: z
      .object({
        order: z
          .object({ id: gid('Order').describe('The order.'), item: z.string().describe('What was ordered.') })
          .describe('The order.'),
      })
      .describe('The event data.'),
  })
  .meta({ title: 'OrderShipped', description: 'An order was shipped.' });
