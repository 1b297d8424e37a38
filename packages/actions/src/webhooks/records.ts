import { formatGid } from '@deedwire/domain';
import type { AttemptRow, DeliveryRow, DeliveryStatus, PausedReason, SubscriptionRow } from '@deedwire/store';
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
    callbackUrl: row.callback_url,
    status: row.paused_at === null ? 'ACTIVE' : 'PAUSED',
    pausedReason: row.paused_reason,
    pausedAt: row.paused_at,
    eventTypes: row.event_types,
    createdAt: row.created_at,
  };
}

export function toWebhookDelivery(gidNamespace: string, row: DeliveryRow): WebhookDelivery {
  return {
    id: formatGid(gidNamespace, 'WebhookDelivery', row.id),
    subscriptionId: formatGid(gidNamespace, 'WebhookSubscription', row.subscription_id),
    sequence: Number(row.sequence),
    status: row.status,
    event: {
      id: formatGid(gidNamespace, 'WebhookEvent', row.event_id),
      type: row.event_type,
      version: row.event_version,
      timestamp: row.occurred_at,
    },
    nextAttemptAt: row.due_at,
  };
}

export function toWebhookAttempt(row: AttemptRow): WebhookAttempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    responseStatus: row.response_status,
    error: row.error === null ? null : readErrorClass(row.error),
  };
}

/** A class that only the newer build knows that wrote it becomes the one that leaves most open. */
function readErrorClass(text: string): AttemptErrorClass {
  return attemptErrorClasses.find((known) => known === text) ?? 'PROTOCOL_ERROR';
}
