import { type RecordId, toRecordId } from '@deedwire/domain';

export type { AccountId } from '@deedwire/domain';
export type DeliveryId = RecordId<'WebhookDelivery'>;
export type EventId = RecordId<'WebhookEvent'>;
export type ListenerId = RecordId<'WebhookListener'>;
export type ReplayId = RecordId<'WebhookReplay'>;
export type SubscriptionId = RecordId<'WebhookSubscription'>;

/** A listener is a row of webhook_subscription: its id is that of a subscription, with a global identifier of its own type. */
export function subscriptionIdOf(id: ListenerId): SubscriptionId {
  return toRecordId(id);
}
