import { formatGid } from '@deedwire/domain';
import type { AttemptRow, DeliveryRow, DeliveryStatus } from '@deedwire/store/webhook-deliveries';
import type { PausedReason, SubscriptionRow } from '@deedwire/store/webhook-subscriptions';
import { type AttemptErrorClass, attemptErrorClasses } from '@deedwire/webhook-sender';

/** Mirrors `WebhookSubscriptionEventType`. */
export interface SubscribedEventType {
  type: string;
  version: string;
}

/** Mirrors `WebhookSubscription`. */
export interface WebhookSubscription {
  id: string;
  callbackUrl: string;
  status: 'ACTIVE' | 'PAUSED';
  /** Null while it is active, like `pausedAt`. */
  pausedReason: PausedReason | null;
  pausedAt: Date | null;
  /** Ordered by type. */
  eventTypes: SubscribedEventType[];
  createdAt: Date;
}

/** Mirrors `WebhookDelivery`, without its attempts. */
export interface WebhookDelivery {
  id: string;
  /** The subscription that it goes to. */
  subscriptionId: string;
  sequence: number;
  status: DeliveryStatus;
  event: { id: string; type: string; version: string; timestamp: Date };
  /** Null when no attempt is planned. */
  nextAttemptAt: Date | null;
}

/** Mirrors `WebhookAttempt`. */
export interface WebhookAttempt {
  number: number;
  startedAt: Date;
  durationMs: number;
  /** Null: no status came back. */
  responseStatus: number | null;
  /** Null: there was a complete answer. */
  error: AttemptErrorClass | null;
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

export function toWebhookAttempt(row: AttemptRow): WebhookAttempt {
  return {
    number: row.number,
    startedAt: row.startedAt,
    durationMs: row.durationMs,
    responseStatus: row.responseStatus,
    error: row.error === null ? null : readErrorClass(row.error),
  };
}

/** A class that only the newer build knows that wrote it becomes the one that leaves most open. */
function readErrorClass(text: string): AttemptErrorClass {
  return attemptErrorClasses.find((known) => known === text) ?? 'PROTOCOL_ERROR';
}
