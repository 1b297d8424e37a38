import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import { addWebhookDelayReason } from './delay.ts';
import { addWebhookDelivery, type WebhookDifferences } from './delivery.ts';
import { addWebhookEvents, addWebhookEventType } from './event.ts';
import { addWebhookListener } from './listener.ts';
import { addWebhookReplay } from './replay.ts';
import { addWebhookSubscriptionMutations } from './subscription-mutations.ts';
import {
  addWebhookSubscription,
  addWebhookSubscriptionEventType,
  addWebhookSubscriptionEventTypeInput,
} from './subscription.ts';

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
  addWebhookDelivery(builder, { connectionOf, Subscription, DelayReason, checkId, sequenceType });
  addWebhookEvents(builder, { connectionOf, checkId });
  addWebhookReplay(builder, { connectionOf, DelayReason, checkId });
  const EventTypeInput = addWebhookSubscriptionEventTypeInput(builder);
  addWebhookSubscriptionMutations(builder, { Subscription, EventTypeInput, checkId });
  addWebhookListener(builder, { EventType, EventTypeInput, checkId });
}
