import { defineEvent, defineService, z } from '@deedwire/service';

const order = z.object({ id: z.uuid(), status: z.enum(['OPEN', 'PAID', 'SHIPPED']), totalCents: z.int() });
const sampleId = '0b9f8c2e-8f8b-4b43-9a53-2f7d0e6f1c11';

export const orderPaid = defineEvent('order.paid', {
  description: 'An order was paid.',
  interfaces: ['customer'],
  record: { type: 'Order', id: (snapshot) => snapshot.order.id },
  snapshot: z.object({ order }),
  sample: () => ({ order: { id: sampleId, status: 'PAID' as const, totalCents: 1_990 } }),
  versions: {
    '2026-11-01': {
      status: 'current',
      data: z.object({ orderId: z.uuid(), status: z.enum(['OPEN', 'PAID', 'SHIPPED']), totalCents: z.int() }),
      render: ({ order: { id, status, totalCents } }) => ({ orderId: id, status, totalCents }),
    },
  },
});

export const orderShipped = defineEvent('order.shipped', {
  description: 'An order was shipped.',
  interfaces: ['customer'],
  record: { type: 'Order', id: (snapshot) => snapshot.order.id },
  snapshot: z.object({ order, carrier: z.string() }),
  sample: () => ({
    order: { id: sampleId, status: 'SHIPPED' as const, totalCents: 1_990 },
    carrier: 'Brønnøysund Post',
  }),
  versions: {
    '2026-11-01': {
      status: 'current',
      data: z.object({ orderId: z.uuid(), status: z.enum(['OPEN', 'PAID', 'SHIPPED']), carrier: z.string() }),
      render: ({ order: { id, status }, carrier }) => ({ orderId: id, status, carrier }),
    },
  },
});

export const service = defineService({
  // They must not change after the first release: databases, clients and receivers keep them.
  names: {
    service: 'shop',
    gidNamespace: 'shop',
    apiKeyPrefix: 'shop',
    headerPrefix: 'X-Shop',
    userAgent: 'Shop-Webhooks',
  },
  interfaces: { customer: { title: 'Customer', account: 'Customer', versions: { '2026-11-01': {} } } },
  events: [orderPaid, orderShipped],
});
