import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import { addCreateWebhookSubscription } from './create-subscription.ts';
import { addWebhookDelayReason } from './delay.ts';
import { addDeleteWebhookSubscription } from './delete-subscription.ts';
import { addWebhookDelivery } from './delivery.ts';
import type { WebhookDifferences } from './differences.ts';
import { addWebhookEventType } from './event-type.ts';
import { addWebhookEvents } from './event.ts';
import { addWebhookListener } from './listener.ts';
import { addPauseWebhookSubscription } from './pause-subscription.ts';
import { addWebhookReplay } from './replay.ts';
import { addResumeWebhookSubscription } from './resume-subscription.ts';
import { addRetryWebhookDelivery } from './retry-delivery.ts';
import { addRotateWebhookSecret } from './rotate-secret.ts';
import { addSendTestWebhookEvent } from './send-test-event.ts';
import { addWebhookSubscriptionEventTypeInput } from './subscription-event-type-input.ts';
import { addWebhookSubscriptionEventType } from './subscription-event-type.ts';
import { addWebhookSubscription } from './subscription.ts';
import { addUpdateWebhookSubscription } from './update-subscription.ts';

/** Adds the webhook part of a schema. A version with other differences composes its own. */
export function addWebhooks(
  builder: InterfaceSchemaBuilder,
  connectionOf: ConnectionOf,
  { checkId, sequenceType }: WebhookDifferences,
): void {
  addWebhookEventType(builder);
  const DelayReason = addWebhookDelayReason(builder);
  const EventType = addWebhookSubscriptionEventType(builder);
  const Subscription = addWebhookSubscription(builder, { connectionOf, EventType, checkId });
  const Delivery = addWebhookDelivery(builder, { connectionOf, Subscription, DelayReason, checkId, sequenceType });
  addWebhookEvents(builder, { connectionOf, checkId });
  addWebhookReplay(builder, { connectionOf, DelayReason, checkId });
  const EventTypeInput = addWebhookSubscriptionEventTypeInput(builder);
  addCreateWebhookSubscription(builder, Subscription, EventTypeInput);
  addUpdateWebhookSubscription(builder, { Subscription, EventTypeInput, checkId });
  addPauseWebhookSubscription(builder, Subscription, checkId);
  addResumeWebhookSubscription(builder, Subscription, checkId);
  addRotateWebhookSecret(builder, Subscription, checkId);
  addSendTestWebhookEvent(builder, checkId);
  addRetryWebhookDelivery(builder, Delivery, checkId);
  addDeleteWebhookSubscription(builder, checkId);
  addWebhookListener(builder, { EventType, EventTypeInput, checkId });
}
