import { formatGid } from '@deedwire/domain';
import type { PausedReason, SubscriptionRow } from '@deedwire/webhooks/subscriptions';

/** `WebhookSubscriptionEventType`: an event type and the version that the subscription pins. */
export interface SubscribedEventType {
  type: string;
  version: string;
}

/** `WebhookSubscription`. */
export interface WebhookSubscription {
  id: string;
  callbackUrl: string;
  status: 'ACTIVE' | 'PAUSED';
  /** Null while the subscription is active, as is `pausedAt`. */
  pausedReason: PausedReason | null;
  pausedAt: Date | null;
  /** Ordered by type. */
  eventTypes: SubscribedEventType[];
  createdAt: Date;
}

export function toWebhookSubscription(gidNamespace: string, row: SubscriptionRow): WebhookSubscription {
  return {
    id: formatGid(gidNamespace, 'WebhookSubscription', row.id),
    callbackUrl: row.callbackUrl,
    status: row.pausedAt === null ? 'ACTIVE' : 'PAUSED',
    pausedReason: row.pausedReason,
    pausedAt: row.pausedAt,
    eventTypes: row.eventTypes,
    createdAt: row.createdAt,
  };
}
