import type { ExchangeDetails } from '@deedwire/webhook-sender';
import type { DeliveryId, ReplayId, SubscriptionId } from '../kernel/ids.ts';

/** The details of an attempt. */
export interface Exchange {
  readonly deliveryId: DeliveryId;
  readonly subscriptionId: SubscriptionId;
  /** From 1. */
  readonly number: number;
  readonly startedAt: Date;
  /** See `LaneTarget`. */
  readonly urlNumber: number;
  /** The retry or replay that queued the delivery again. Null if fan-out queued it. */
  readonly replayId: ReplayId | null;
  readonly details: ExchangeDetails;
}
