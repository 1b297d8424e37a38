import { findWebhookSubscription, listWebhookSubscriptions, type WebhookSubscription } from '@deedwire/actions';
import { pausedReasons } from '@deedwire/webhooks/tables';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { WebhookParts } from './webhook-parts.ts';

/** Adds `WebhookSubscription`, `Query.webhookSubscription` and `Query.webhookSubscriptions`. */
export function addWebhookSubscription(
  builder: InterfaceSchemaBuilder,
  { connectionOf, EventType, checkId }: Omit<WebhookParts, 'Subscription'>,
): WebhookParts['Subscription'] {
  const Status = builder.enumType('WebhookSubscriptionStatus', { values: ['ACTIVE', 'PAUSED'] as const });
  const HeaderState = builder.enumType('WebhookHeaderState', { values: ['SENT', 'DROPPED'] as const });
  const PausedReason = builder.enumType('WebhookPausedReason', { values: pausedReasons });

  const Rotation = builder.objectRef<NonNullable<WebhookSubscription['rotation']>>('WebhookSecretRotation').implement({
    fields: (t) => ({
      startedAt: t.expose('startedAt', { type: 'DateTime' }),
      endsAt: t.expose('endsAt', { type: 'DateTime' }),
    }),
  });

  const Subscription = builder.objectRef<WebhookSubscription>('WebhookSubscription').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name', { nullable: true }),
      callbackUrl: t.exposeString('callbackUrl'),
      timeoutSeconds: t.exposeInt('timeoutSeconds'),
      requestHeaderName: t.exposeString('requestHeaderName', { nullable: true }),
      headerState: t.field({ type: HeaderState, nullable: true, resolve: ({ headerState }) => headerState }),
      status: t.field({ type: Status, resolve: ({ status }) => status }),
      pausedReason: t.field({ type: PausedReason, nullable: true, resolve: ({ pausedReason }) => pausedReason }),
      pausedAt: t.expose('pausedAt', { type: 'DateTime', nullable: true }),
      eventTypes: t.field({ type: [EventType], resolve: ({ eventTypes }) => eventTypes }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      rotation: t.field({ type: Rotation, nullable: true, resolve: ({ rotation }) => rotation }),
    }),
  });
  const SubscriptionConnection = connectionOf('WebhookSubscription', Subscription);

  builder.queryFields((t) => ({
    webhookSubscription: t.field({
      type: Subscription,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve(_, { id }, context) {
        checkId(context, 'WebhookSubscription', 'id', id);
        return findWebhookSubscription(context.actions, context.caller, id);
      },
    }),
    webhookSubscriptions: t.field({
      type: SubscriptionConnection,
      args: { first: t.arg.int({ defaultValue: 20 }), after: t.arg.string() },
      resolve: (_, page, { actions, caller }) => listWebhookSubscriptions(actions, caller, page),
    }),
  }));
  return Subscription;
}
