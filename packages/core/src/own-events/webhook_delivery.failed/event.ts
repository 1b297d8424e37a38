import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { formatGid } from '../../gid.ts';
import { toRecordId } from '../../record-id.ts';
import { sampleSubscription, sampleTime, webhookSubscription } from '../parts.ts';

export const webhookDeliveryFailed = defineEvent('webhook_delivery.failed', {
  snapshot: z.object({
    webhookSubscription,
    since: z.string(),
    failedCount: z.number(),
    webhookDeliveryIds: z.array(z.string()),
  }),
  sample: (gidNamespace) => ({
    webhookSubscription: sampleSubscription(gidNamespace),
    since: sampleTime,
    failedCount: 2,
    webhookDeliveryIds: ['815', '816'].map((id) => formatGid(gidNamespace, 'WebhookDelivery', toRecordId(id))),
  }),
});

export type Snapshot = SnapshotOf<typeof webhookDeliveryFailed>;
