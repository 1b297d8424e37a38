import { z } from 'zod';
import { timeCodec } from '../time-codec.ts';
import type { WebhookSubscription } from './webhook-subscription.ts';

/**
 * How a saved result keeps a subscription. Results of earlier builds must stay readable for 24 hours: only add optional fields.
 */
export const webhookSubscriptionCodec = z.object({
  id: z.string(),
  callbackUrl: z.string(),
  status: z.enum(['ACTIVE', 'PAUSED']),
  pausedReason: z.enum(['OWNER', 'GONE', 'FAILING', 'VERSION_RETIRED']).nullable(),
  pausedAt: timeCodec.nullable(),
  eventTypes: z.array(z.object({ type: z.string(), version: z.string() })),
  createdAt: timeCodec,
}) satisfies z.ZodType<WebhookSubscription>;
