import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import { addCreateWebhookSubscription } from './create-subscription.ts';
import { addDeleteWebhookSubscription } from './delete-subscription.ts';
import { addWebhookDelivery } from './delivery.ts';
import { addWebhookEventType } from './event-type.ts';
import { addWebhookSubscriptionEventTypeInput } from './subscription-event-type-input.ts';
import { addWebhookSubscription } from './subscription.ts';
import { addUpdateWebhookSubscription } from './update-subscription.ts';

/** Adds the webhook part of a schema, unchanged since 2026-11-01 but for `checkId`. A version that differs composes its own. */
export function addWebhooks(builder: InterfaceSchemaBuilder, connectionOf: ConnectionOf, checkId: CheckId): void {
  addWebhookEventType(builder);
  const Subscription = addWebhookSubscription(builder, connectionOf, checkId);
  addWebhookDelivery(builder, { connectionOf, Subscription, checkId });
  const EventTypeInput = addWebhookSubscriptionEventTypeInput(builder);
  addCreateWebhookSubscription(builder, Subscription, EventTypeInput);
  addUpdateWebhookSubscription(builder, { Subscription, EventTypeInput, checkId });
  addDeleteWebhookSubscription(builder, checkId);
}
