import type { RecordId } from '@deedwire/domain';

export type { AccountId } from '@deedwire/domain';
export type DeliveryId = RecordId<'WebhookDelivery'>;
export type EventId = RecordId<'WebhookEvent'>;
export type ReplayId = RecordId<'WebhookReplay'>;
export type SubscriptionId = RecordId<'WebhookSubscription'>;
