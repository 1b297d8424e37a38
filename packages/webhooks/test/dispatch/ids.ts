import { toRecordId } from '@deedwire/core';
import type { AccountId, DeliveryId, EventId, SubscriptionId, LaneId } from '../../src/kernel/ids.ts';

export const accountId = (number: number): AccountId => toRecordId<'Account'>(String(number));
export const subscriptionId = (number: number): SubscriptionId => toRecordId<'WebhookSubscription'>(String(number));
export const deliveryId = (number: number): DeliveryId => toRecordId<'WebhookDelivery'>(String(number));
export const eventId = (number: number): EventId => toRecordId<'WebhookEvent'>(String(number));

/** By default, each lane has another account. */
export function laneId(lane: number, account: number = lane): LaneId {
  return { subscriptionId: subscriptionId(lane), accountId: accountId(account) };
}
