import { defineEvent, defineService, type SnapshotOf, withRenderers } from '@deedwire/core';
import { createTestDatabase, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import * as z from 'zod';

// An application that exists: its tables are in `public`, those of the platform in a schema beside them.

const paid = defineEvent('order.paid', {
  record: { type: 'ShopOrder', id: ({ order }) => order.id },
  snapshot: z.object({
    order: z.object({ id: z.uuid(), status: z.enum(['OPEN', 'PAID']), note: z.string().default('') }),
  }),
  sample: () => ({ order: { id: '0b9f8c2e-8f8b-4b43-9a53-2f7d0e6f1c11', status: 'PAID' as const, note: '' } }),
});

export const orderPaid = withRenderers(paid, {
  '2026-11-01': ({ order }: SnapshotOf<typeof paid>) => ({ orderId: order.id, note: order.note }),
});

export const shop = defineService({
  names: {
    service: 'shop',
    gidNamespace: 'shop',
    apiKeyPrefix: 'shop',
    headerPrefix: 'X-Shop',
    userAgent: 'Shop-Webhooks',
  },
  interfaces: { customer: { title: 'Customer', account: 'Customer' } },
  contracts: [
    {
      type: 'order.paid',
      description: 'An order was paid.',
      interfaces: ['customer'],
      versions: [
        {
          version: '2026-11-01',
          status: 'current',
          deprecatedOn: null,
          sunsetOn: null,
          data: z.strictObject({ orderId: z.uuid(), note: z.string() }),
        },
      ],
    },
  ],
  events: [orderPaid],
});

/** A database with the account `c-1`. */
export const createShopDatabase = (): Promise<TestDatabase> =>
  createTestDatabase({
    template: 'shop',
    async prepare(url) {
      await migrate(url, shop, { schema: 'deedwire' });
      await withClient(url, async (client) => {
        await client.query('create table "order" (id uuid primary key, status text not null)');
        await client.query(`select deedwire.create_account('customer', 'c-1', 'Ada')`);
      });
    },
  });

export const snapshotOf = (id: string) => ({ order: { id, status: 'PAID' as const, note: '' } });
