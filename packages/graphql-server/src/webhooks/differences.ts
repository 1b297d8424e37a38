import type { CheckId } from '../schema/check-id.ts';

/** What the webhook parts of the versions differ in. */
export interface WebhookDifferences {
  checkId: CheckId;
  /** The type of `WebhookDelivery.sequence`. */
  sequenceType: 'Int' | 'Long';
}
