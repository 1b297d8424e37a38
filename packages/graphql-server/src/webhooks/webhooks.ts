import { addPortalLink } from '../portal/portal-link.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import { addWebhookAttemptError } from './attempt.ts';
import { addWebhookDelayReason, addWebhookDelivery, addWebhookPayloadDeletion } from './delivery.ts';
import { addWebhookEvents, addWebhookEventType } from './event.ts';
import { addWebhookHealth } from './health.ts';
import { addWebhookListener } from './listener.ts';
import { addWebhookReplay } from './replay.ts';
import { addWebhookSubscriptionMutations } from './subscription-mutations.ts';
import {
  addWebhookSubscription,
  addWebhookSubscriptionEventType,
  addWebhookSubscriptionEventTypeInput,
} from './subscription.ts';
import type { WebhookDifferences, WebhookParts } from './webhook-parts.ts';

/** Adds the webhook part of a schema, and the portal that shows it. A version with other differences composes its own. */
export function addWebhooks(
  builder: InterfaceSchemaBuilder,
  connectionOf: ConnectionOf,
  differences: WebhookDifferences,
): void {
  const shared = {
    ...differences,
    connectionOf,
    AttemptError: addWebhookAttemptError(builder),
    DelayReason: addWebhookDelayReason(builder),
    EventType: addWebhookSubscriptionEventType(builder),
    EventTypeInput: addWebhookSubscriptionEventTypeInput(builder),
    PayloadDeletion: addWebhookPayloadDeletion(builder),
  };
  const parts: WebhookParts = { ...shared, Subscription: addWebhookSubscription(builder, shared) };
  addWebhookHealth(builder, parts);
  addWebhookSubscriptionMutations(builder, parts);
  addWebhookEventType(builder);
  addWebhookEvents(builder, parts);
  addWebhookDelivery(builder, parts);
  addWebhookReplay(builder, parts);
  addWebhookListener(builder, parts);
  addPortalLink(builder, parts);
}
