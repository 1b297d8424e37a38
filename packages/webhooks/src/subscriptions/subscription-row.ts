import type { SubscriptionId } from '../kernel/ids.ts';

export type PausedReason = 'OWNER' | 'GONE' | 'FAILING' | 'VERSION_RETIRED';

/** An event type and the payload version that a subscription pins. */
export interface EventTypePin {
  type: string;
  version: string;
}

export interface SubscriptionRow {
  id: SubscriptionId;
  callbackUrl: string;
  secretCiphertext: Buffer;
  /** Null while the subscription is active. So is `pausedAt`. */
  pausedReason: PausedReason | null;
  pausedAt: Date | null;
  createdAt: Date;
  /** Ordered by type. */
  eventTypes: EventTypePin[];
}

/** The columns of `SubscriptionRow`, from `webhook_subscription s`. */
export const subscriptionColumns = `
  s.id, s.callback_url as "callbackUrl", s.secret_ciphertext as "secretCiphertext", s.paused_reason as "pausedReason",
  s.paused_at as "pausedAt", s.created_at as "createdAt",
  (
    select coalesce(json_agg(json_build_object('type', t.event_type, 'version', t.event_version) order by t.event_type), '[]')
    from webhook_subscription_event_type t
    where t.subscription_id = s.id
  ) as "eventTypes"`;
