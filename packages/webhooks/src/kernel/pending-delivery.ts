import type { AccountId, DeliveryId, EventId, ReplayId, SubscriptionId } from './ids.ts';

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
  /** When workers claimed this delivery without recording an attempt, by the clock of the database. */
  readonly claims: readonly Date[];
  /** When the next attempt may start. */
  readonly dueAtMs: number;
  /** The exact bytes to sign and to send. */
  readonly body: Uint8Array;
}

/** One for all, because almost no delivery was claimed by a worker that died. */
export const noClaims: PendingDelivery['claims'] = [];

/** What caused an event. */
export interface Origin {
  /** Null if no request caused it. */
  readonly requestId: string | null;
  /** The `traceparent` of the span that caused it, by the recommendation Trace Context of the W3C. Omitted unless it is traced. */
  readonly traceParent?: string;
}

/**
 * The columns `request_id` of an event and of its pending deliveries contain both, separated by a space: they are read, copied and
 * written together, and an event that is not traced costs nothing more.
 */
export function storedOrigin({ requestId, traceParent }: Origin): string | null {
  return traceParent === undefined ? requestId : `${requestId ?? ''} ${traceParent}`;
}

export function originOf(stored: string | null): Origin {
  const space = stored?.indexOf(' ') ?? -1;
  if (stored === null || space === -1) return { requestId: stored };
  return { requestId: stored.slice(0, space) || null, traceParent: stored.slice(space + 1) };
}
