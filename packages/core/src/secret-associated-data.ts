import type { RecordId } from './record-id.ts';

/**
 * The associated data under which the webhook secret of a subscription is encrypted: the ciphertext cannot be decrypted as
 * the secret of another subscription. Stored ciphertexts depend on it, so it must never change.
 */
export function secretAssociatedData(subscriptionId: RecordId<'WebhookSubscription'>): string {
  return `webhook-subscription:${subscriptionId}`;
}

/**
 * The same of the value of its request header, which leaves us: if the callback URL gets another origin, or the header another name, it
 * cannot be decrypted.
 */
export function requestHeaderAssociatedData(
  subscriptionId: RecordId<'WebhookSubscription'>,
  name: string,
  origin: string,
): string {
  return `webhook-subscription:${subscriptionId}:request-header:${name}:${origin}`;
}
