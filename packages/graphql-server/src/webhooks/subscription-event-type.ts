import type { WebhookSubscription } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';

export type WebhookSubscriptionEventTypeRef = ObjectTypeRef<WebhookSubscription['eventTypes'][number]>;

/** Adds `WebhookSubscriptionEventType`. */
export function addWebhookSubscriptionEventType(builder: InterfaceSchemaBuilder): WebhookSubscriptionEventTypeRef {
  return builder.objectRef<WebhookSubscription['eventTypes'][number]>('WebhookSubscriptionEventType').implement({
    fields: (t) => ({
      type: t.exposeString('type'),
      version: t.exposeString('version'),
    }),
  });
}
