import type { Delay, ListedAttempt, WebhookDelivery, WebhookSubscription } from '@deedwire/actions';
import type { EnumTypeRef, InputTypeRef, ObjectTypeRef } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { ConnectionOf } from '../schema/connection.ts';

/** What the webhook parts of the versions differ in. */
export interface WebhookDifferences {
  checkId: CheckId;
  /** The type of `WebhookDelivery.sequence`. */
  sequenceType: 'Int' | 'Long';
}

/** What the modules of the webhook part use of their version and of each other. */
export interface WebhookParts extends WebhookDifferences {
  AttemptError: EnumTypeRef<NonNullable<ListedAttempt['error']>>;
  connectionOf: ConnectionOf;
  DelayReason: EnumTypeRef<Delay['reason']>;
  EventType: ObjectTypeRef<WebhookSubscription['eventTypes'][number]>;
  EventTypeInput: InputTypeRef<{ type: string; version?: string | null | undefined }>;
  PayloadDeletion: EnumTypeRef<NonNullable<WebhookDelivery['payloadDeletion']>>;
  Subscription: ObjectTypeRef<WebhookSubscription>;
}
