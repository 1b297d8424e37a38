import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { sampleSubscription, sampleTime, webhookSubscription } from '../parts.ts';

export const webhookSubscriptionPaused = defineEvent('webhook_subscription.paused', {
  snapshot: z.object({ webhookSubscription, reason: z.string(), pausedAt: z.string() }),
  sample: (gidNamespace) => ({
    webhookSubscription: sampleSubscription(gidNamespace),
    reason: 'GONE',
    pausedAt: sampleTime,
  }),
});

export type Snapshot = SnapshotOf<typeof webhookSubscriptionPaused>;
