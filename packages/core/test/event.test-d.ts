import * as z from 'zod';
import { defineEvent } from '../src/event.ts';

// The compiler checks this file. Nothing runs it.

const event = {
  description: 'An order was paid.',
  interfaces: ['customer'],
  snapshot: z.object({ id: z.string() }),
  sample: () => ({ id: '1' }),
};
const data = z.strictObject({ orderId: z.string() });
const status = 'current';

void defineEvent('order.paid', {
  ...event,
  record: { type: 'Order', id: ({ id }) => id },
  versions: { '2026-11-01': { status, data, render: ({ id }) => ({ orderId: id }) } },
});
void defineEvent('order.paid', {
  ...event,
  // @ts-expect-error -- a field that the version does not publish
  versions: { '2026-11-01': { status, data, render: ({ id }) => ({ id }) } },
});
void defineEvent('order.paid', {
  ...event,
  // @ts-expect-error -- a value of another type
  versions: { '2026-11-01': { status, data, render: () => ({ orderId: 1 }) } },
});
void defineEvent('order.paid', {
  ...event,
  // @ts-expect-error -- a field that the snapshot does not have
  versions: { '2026-11-01': { status, data, render: ({ order }) => ({ orderId: order }) } },
});
