import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { sampleSubscription, sampleTime, webhookSubscription } from '../parts.ts';

export const webhookSubscriptionDisrupted = defineEvent('webhook_subscription.disrupted', {
  snapshot: z.object({
    webhookSubscription,
    failingSince: z.string(),
    consecutiveFailures: z.number(),
  }),
  sample: (gidNamespace) => ({
    webhookSubscription: sampleSubscription(gidNamespace),
    failingSince: sampleTime,
    consecutiveFailures: 17,
  }),
});

export type Snapshot = SnapshotOf<typeof webhookSubscriptionDisrupted>;
