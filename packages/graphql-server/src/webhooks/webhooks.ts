import { addPortalLink } from '../portal/portal-link.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import { addApiKeys } from './api-key.ts';
import { addContactEmails } from './contact-email.ts';
import { addWebhookDelivery } from './delivery.ts';
import { addWebhookEvents, addWebhookEventType } from './event.ts';
import { addWebhookHealth } from './health.ts';
import { addWebhookListener } from './listener.ts';
import { addWebhookReplay } from './replay.ts';
import { addWebhookSubscriptionMutations } from './subscription-mutations.ts';
import { addWebhookSubscription } from './subscription.ts';
import { addSharedTypes, type WebhookDifferences, type WebhookParts } from './webhook-parts.ts';

/**
 * Adds the webhook part of a schema, the portal that shows it, the API keys, and the contact addresses. A version with other differences
 * composes its own.
 */
export function addWebhooks(
  builder: InterfaceSchemaBuilder,
  connectionOf: ConnectionOf,
  differences: WebhookDifferences,
): void {
  const shared = { ...differences, connectionOf, ...addSharedTypes(builder) };
  const parts: WebhookParts = { ...shared, Subscription: addWebhookSubscription(builder, shared) };
  addWebhookHealth(builder, parts);
  addWebhookSubscriptionMutations(builder, parts);
  addWebhookEventType(builder);
  addWebhookEvents(builder, parts);
  addWebhookDelivery(builder, parts);
  addWebhookReplay(builder, parts);
  addWebhookListener(builder, parts);
  addPortalLink(builder, parts);
  addApiKeys(builder);
  addContactEmails(builder);
}
