import { delayReasons, shownAttemptErrors, type WebhookSubscription } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { ConnectionOf } from '../schema/connection.ts';

/** What the webhook parts of the versions differ in. */
export interface WebhookDifferences {
  checkId: CheckId;
  /** The type of `WebhookDelivery.sequence`. */
  sequenceType: 'Int' | 'Long';
  /** Whether `WebhookEvent` and `WebhookDeliveryEvent` have an `id` beside `eventId`. */
  eventsHaveId: boolean;
}

export const eventIdDeprecation =
  'Use `eventId`, the same value. Clients that normalize objects by `id`, such as Apollo Client and Relay, mix what several subscriptions receive of one event.';

/** What the modules of the webhook part use of their version and of each other. */
export interface WebhookParts extends WebhookDifferences, ReturnType<typeof addSharedTypes> {
  connectionOf: ConnectionOf;
  Subscription: ObjectTypeRef<WebhookSubscription>;
}

/** Adds the types that several modules of the webhook part use. */
export function addSharedTypes(builder: InterfaceSchemaBuilder) {
  const eventType = builder.objectRef<WebhookSubscription['eventTypes'][number]>('WebhookSubscriptionEventType');
  return {
    AttemptError: builder.enumType('WebhookAttemptError', { values: shownAttemptErrors }),
    DelayReason: builder.enumType('WebhookDelayReason', { values: delayReasons }),
    EventType: eventType.implement({
      fields: (t) => ({ type: t.exposeString('type'), version: t.exposeString('version') }),
    }),
    EventTypeInput: builder.inputType('WebhookSubscriptionEventTypeInput', {
      fields: (t) => ({ type: t.string({ required: true }), version: t.string() }),
    }),
    RequestHeaderInput: builder.inputType('WebhookRequestHeaderInput', {
      fields: (t) => ({ name: t.string({ required: true }), value: t.string({ required: true }) }),
    }),
    PayloadDeletion: builder.enumType('WebhookPayloadDeletion', { values: ['ERASED', 'RETENTION'] as const }),
  };
}
