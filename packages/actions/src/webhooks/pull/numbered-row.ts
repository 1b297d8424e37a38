import type { DeliveryId, EventId } from '@deedwire/webhooks/tables';

/** A delivery with its number, as pull reads it. */
export interface NumberedRow {
  id: DeliveryId;
  sequence: number;
  eventId: EventId;
  eventType: string;
  eventVersion: string;
  occurredAt: Date;
  isTest: boolean;
}
