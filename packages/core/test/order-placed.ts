import { defineEvent, type EventContract, formatGid, type SnapshotOf, toRecordId, withRenderers } from '@deedwire/core';
import * as z from 'zod';

const text = z.string();
const order = z.object({ id: text, item: text, buyerEmail: text.nullable().optional(), note: text.nullable() });

/** The event of the test service. Appended by `placeOrder`. */
export const orderPlaced = defineEvent('order.placed', {
  record: { type: 'Order', id: ({ order: { id } }) => id },
  persons: ['order.buyerEmail', 'order.note'],
  address: 'order.buyerEmail',
  snapshot: z.object({ order, placedAt: text }),
  sample: (gidNamespace) => ({
    order: {
      id: formatGid(gidNamespace, 'Order', toRecordId('4711')),
      item: 'Tea «Grün» 🏡',
      buyerEmail: null,
      note: null,
    },
    placedAt: '2026-11-03T09:30:00.000Z',
  }),
});

type Snapshot = SnapshotOf<typeof orderPlaced>;

const gid = text.regex(/^gid:\/\/[a-z][a-z0-9-]*\/Order\/[1-9][0-9]*$/);
const time = z.iso.datetime({ precision: 3 });
const released = { version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null } as const;

export const orderPlacedContract: EventContract = {
  type: orderPlaced.type,
  description: 'An order was placed.',
  interfaces: ['customer'],
  versions: [
    { ...released, data: z.strictObject({ orderId: gid, item: text, note: text.nullable(), placedAt: time }) },
    {
      ...released,
      version: '2027-02-01',
      status: 'preview',
      data: z.strictObject({ order: z.strictObject({ id: gid, item: text, note: text.nullable() }), placedAt: time }),
    },
  ],
};

export const renderedOrderPlaced = withRenderers(orderPlaced, {
  '2026-11-01': ({ order: { id, item, note }, placedAt }: Snapshot) => ({ orderId: id, item, note, placedAt }),
  '2027-02-01': ({ order: { id, item, note }, placedAt }: Snapshot) => ({ order: { id, item, note }, placedAt }),
});
