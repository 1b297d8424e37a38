import type { Client } from '@deedwire/testing';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';

/** Creates a subscription. Throws if there are user errors, for example because the handshake failed. */
export async function subscribe(
  client: Client,
  input: operations.SubscribeMutationVariables['input'],
): Promise<{ id: string; secret: string }> {
  const { createWebhookSubscription } = await client.request(operations.SubscribeDocument, { input });
  const { webhookSubscription, webhookSecret } = createWebhookSubscription;
  if (webhookSubscription === null || webhookSecret === null)
    throw new Error(JSON.stringify(createWebhookSubscription));
  return { id: webhookSubscription.id, secret: webhookSecret };
}
