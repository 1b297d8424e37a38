import type { RecordId } from '@deedwire/domain';

/** What the encrypted secret of a subscription belongs to: it opens under no other subscription. */
export function secretAssociatedData(subscriptionId: RecordId): string {
  return `webhook-subscription:${subscriptionId}`;
}
