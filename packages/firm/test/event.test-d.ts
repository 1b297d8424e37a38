import { defineEvent } from '@deedwire/core';
import * as z from 'zod';
import { referralConverted, referralCreated } from '../src/events/index.ts';
import { withRenderers } from '../src/with-renderers.ts';

// The compiler checks this file. Nothing runs it.

const render = ({ referral }: { referral: { id: string } }) => ({ referralId: referral.id });
void withRenderers(referralCreated, { '2026-11-01': render });
void withRenderers(referralConverted, { '2026-11-01': render, '2027-02-01': render });
// @ts-expect-error -- a version of the payload has no renderer
void withRenderers(referralConverted, { '2026-11-01': render });
// @ts-expect-error -- a version that the payload does not have
void withRenderers(referralCreated, { '2026-11-01': render, '2027-02-01': render });
// @ts-expect-error -- a field that the snapshot does not have
void withRenderers(referralCreated, { '2026-11-01': ({ price }) => ({ price }) });

const snapshot = z.object({ order: z.string() });
const record = { type: 'Order', id: ({ order }: { order: string }) => order };
const orderPaid = defineEvent('order.paid', { record, snapshot, sample: () => ({ order: '1' }) });
// @ts-expect-error -- an event without a payload
void withRenderers(orderPaid, { '2026-11-01': ({ order }) => ({ order }) });
// @ts-expect-error -- a sample without a field of the snapshot
void defineEvent('order.paid', { record, snapshot, sample: () => ({}) });
void defineEvent('order.paid', {
  // @ts-expect-error -- an id that the snapshot does not have
  record: { type: 'Order', id: ({ id }) => id },
  snapshot,
  sample: () => ({ order: '1' }),
});
