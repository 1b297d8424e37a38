import type { AccountId, DeliveryId, EventId, ReplayId, SubscriptionId } from './ids.ts';
import type { Origin } from './origin.ts';

/** An unfinished delivery, with everything that sending needs except the target of its lane. */
export interface PendingDelivery extends Origin {
  readonly deliveryId: DeliveryId;
  readonly subscriptionId: SubscriptionId;
  readonly accountId: AccountId;
  readonly eventId: EventId;
  readonly eventType: string;
  readonly eventVersion: string;
  readonly occurredAt: Date;
  /** The owner of the subscription asked for the event. */
  readonly isTest: boolean;
  /** The number of the delivery within its subscription, from 1, in decimal. */
  readonly sequence: string;
  /** How many attempts are recorded. */
  readonly attempts: number;
  /** How many of them belong to earlier sendings: the delivery was queued again by a retry or a replay. */
  readonly priorAttempts: number;
  /** The retry or replay that queued the delivery again. Null if fan-out queued it. */
  readonly replayId: ReplayId | null;
  /** How many workers claimed this delivery and died before they recorded an attempt. */
  readonly claims: number;
  /** When the next attempt may start. */
  readonly dueAtMs: number;
  /** The exact bytes to sign and to send. */
  readonly body: Uint8Array;
}
