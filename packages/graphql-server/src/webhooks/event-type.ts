import { listWebhookEventTypes, type SubscribableEventType } from '@deedwire/actions';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';

/** Adds `WebhookEventType` and `Query.webhookEventTypes`. */
export function addWebhookEventType(builder: InterfaceSchemaBuilder): void {
  const Status = builder.enumType('WebhookEventVersionStatus', {
    values: ['PREVIEW', 'CURRENT', 'DEPRECATED'] as const,
  });

  const Version = builder.objectRef<SubscribableEventType['versions'][number]>('WebhookEventTypeVersion').implement({
    fields: (t) => ({
      version: t.exposeString('version'),
      status: t.field({ type: Status, resolve: ({ status }) => status }),
      sunsetOn: t.expose('sunsetOn', { type: 'Date', nullable: true }),
    }),
  });

  const EventType = builder.objectRef<SubscribableEventType>('WebhookEventType').implement({
    fields: (t) => ({
      type: t.exposeString('type'),
      description: t.exposeString('description'),
      versions: t.field({ type: [Version], resolve: ({ versions }) => versions }),
    }),
  });

  builder.queryField('webhookEventTypes', (t) =>
    t.field({ type: [EventType], resolve: (_, _args, { actions, caller }) => listWebhookEventTypes(actions, caller) }),
  );
}
