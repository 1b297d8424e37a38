import type { DeliveryId, EventId, SubscriptionId } from '@deedwire/webhooks/tables';

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED' | 'EXPIRED';

export interface DeliveryRow {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  sequence: string;
  status: DeliveryStatus;
  eventId: EventId;
  eventType: string;
  eventVersion: string;
  isTest: boolean;
  occurredAt: Date;
  /** When the next attempt is due. Null if none is planned. */
  dueAt: Date | null;
}
