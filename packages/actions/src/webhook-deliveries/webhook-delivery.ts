import { formatGid } from '@deedwire/domain';
import type { DeliveryRow, DeliveryStatus } from '@deedwire/webhooks/deliveries';

/** `WebhookDelivery`, without its attempts. */
export interface WebhookDelivery {
  id: string;
  /** The global identifier of the subscription. */
  subscriptionId: string;
  sequence: number;
  status: DeliveryStatus;
  event: { id: string; type: string; version: string; timestamp: Date };
  /** Null if no attempt is planned. */
  nextAttemptAt: Date | null;
}

export function toWebhookDelivery(gidNamespace: string, row: DeliveryRow): WebhookDelivery {
  return {
    id: formatGid(gidNamespace, 'WebhookDelivery', row.id),
    subscriptionId: formatGid(gidNamespace, 'WebhookSubscription', row.subscriptionId),
    sequence: Number(row.sequence),
    status: row.status,
    event: {
      id: formatGid(gidNamespace, 'WebhookEvent', row.eventId),
      type: row.eventType,
      version: row.eventVersion,
      timestamp: row.occurredAt,
    },
    nextAttemptAt: row.dueAt,
  };
}
