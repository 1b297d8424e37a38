import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';

export const orderShipped = defineEvent('order.shipped', {
  record: { type: 'Order', id: ({ order }) => order.id },
  snapshot: z.object({ order: z.object({ id: z.string(), item: z.string() }) }),
  sample: (gidNamespace) => ({ order: { id: `gid://${gidNamespace}/Order/4711`, item: 'Tea' } }),
});

export type Snapshot = SnapshotOf<typeof orderShipped>;
