import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { sampleSubscription, sampleTime, webhookSubscription } from '../parts.ts';

export const webhookSubscriptionRecovered = defineEvent('webhook_subscription.recovered', {
  snapshot: z.object({ webhookSubscription, disruptedAt: z.string() }),
  sample: (gidNamespace) => ({ webhookSubscription: sampleSubscription(gidNamespace), disruptedAt: sampleTime }),
});

export type Snapshot = SnapshotOf<typeof webhookSubscriptionRecovered>;
