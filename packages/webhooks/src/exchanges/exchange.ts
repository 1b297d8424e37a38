import type { ExchangeDetails } from '@deedwire/webhook-sender';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';

/** The details of an attempt. */
export interface Exchange {
  readonly deliveryId: DeliveryId;
  readonly subscriptionId: SubscriptionId;
  /** From 1. */
  readonly number: number;
  readonly startedAt: Date;
  readonly details: ExchangeDetails;
}
