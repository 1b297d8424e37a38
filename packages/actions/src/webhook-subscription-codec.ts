import { parseGid, secretAssociatedData } from '@deedwire/domain';
import { z } from 'zod';
import type { WebhookActionContext } from './context.ts';
import { type SavedResult, timeCodec } from './idempotency.ts';
import type { WebhookSubscription } from './webhook-subscriptions.ts';

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
  rotation: z.object({ startedAt: timeCodec, endsAt: timeCodec }).nullable().default(null),
}) satisfies z.ZodType<WebhookSubscription>;

/** The subscription and the secret of a saved result that contains both. */
export function savedSubscription(
  { gidNamespace, secretKeys }: Pick<WebhookActionContext, 'gidNamespace' | 'secretKeys'>,
  { payload: webhookSubscription, secretCiphertext }: SavedResult<WebhookSubscription>,
): { webhookSubscription: WebhookSubscription; webhookSecret: string } {
  const id = parseGid(gidNamespace, 'WebhookSubscription', webhookSubscription.id);
  if (id === null || secretCiphertext === null)
    throw new Error('The saved result is not a subscription with a secret.');
  const webhookSecret = secretKeys.decrypt(secretCiphertext, secretAssociatedData(id));
  return { webhookSubscription, webhookSecret };
}
