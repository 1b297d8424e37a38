import { defineEvent, withRenderers } from '@deedwire/domain';
import * as z from 'zod';

// The compiler checks this file. Nothing runs it.

const snapshot = z.object({ order: z.string() });
const orderPaid = defineEvent('order.paid', { record: 'Order', snapshot, sample: () => ({ order: '1' }) });
void withRenderers(orderPaid, { '2026-11-01': ({ order }) => ({ order }) });
// @ts-expect-error -- a field that the snapshot does not have
void withRenderers(orderPaid, { '2026-11-01': ({ price }) => ({ price }) });
// @ts-expect-error -- a sample without a field of the snapshot
void defineEvent('order.paid', { record: 'Order', snapshot, sample: () => ({}) });
