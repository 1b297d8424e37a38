import {
  createWebhookListener,
  type CreateWebhookListenerResult,
  deleteWebhookListener,
  type DeleteWebhookListenerResult,
  listWebhookListeners,
  type WebhookListener,
} from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import { markReplay } from '../schema/mark-replay.ts';
import type { WebhookSubscriptionEventTypeInputRef } from './subscription-event-type-input.ts';
import type { WebhookSubscriptionEventTypeRef } from './subscription-event-type.ts';

/** Adds `WebhookListener`, `Query.webhookListeners`, `Mutation.createWebhookListener` and `Mutation.deleteWebhookListener`. */
export function addWebhookListener(
  builder: InterfaceSchemaBuilder,
  {
    EventType,
    EventTypeInput,
    checkId,
  }: {
    EventType: WebhookSubscriptionEventTypeRef;
    EventTypeInput: WebhookSubscriptionEventTypeInputRef;
    checkId: CheckId;
  },
): void {
  const Listener = builder.objectRef<WebhookListener>('WebhookListener').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      eventTypes: t.field({ type: [EventType], resolve: ({ eventTypes }) => eventTypes }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
      lastSequence: t.expose('lastSequence', { type: 'Long' }),
    }),
  });

  builder.queryField('webhookListeners', (t) =>
    t.field({ type: [Listener], resolve: (_, _args, { actions, caller }) => listWebhookListeners(actions, caller) }),
  );

  const CreateInput = builder.inputType('CreateWebhookListenerInput', {
    fields: (t) => ({
      eventTypes: t.field({ type: [EventTypeInput], required: true }),
      idempotencyKey: t.string(),
    }),
  });
  const CreateError = addUserError(builder, 'CreateWebhookListener', [
    'EVENT_TYPES_INVALID',
    'EVENT_TYPE_UNKNOWN',
    'EVENT_VERSION_UNKNOWN',
    'FORBIDDEN',
    'IDEMPOTENCY_IN_PROGRESS',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'LIMIT_REACHED',
  ]);
  const CreatePayload = builder.objectRef<CreateWebhookListenerResult>('CreateWebhookListenerPayload').implement({
    fields: (t) => ({
      webhookListener: t.expose('webhookListener', { type: Listener, nullable: true }),
      userErrors: t.field({ type: [CreateError], resolve: ({ userErrors }) => userErrors }),
    }),
  });
  builder.mutationField('createWebhookListener', (t) =>
    t.field({
      type: CreatePayload,
      args: { input: t.arg({ type: CreateInput, required: true }) },
      resolve: async (_, { input }, context) =>
        markReplay(context, await createWebhookListener(context.actions, context.caller, input)),
    }),
  );

  const DeleteInput = builder.inputType('DeleteWebhookListenerInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });
  const DeleteError = addUserError(builder, 'DeleteWebhookListener', ['NOT_FOUND']);
  const DeletePayload = builder.objectRef<DeleteWebhookListenerResult>('DeleteWebhookListenerPayload').implement({
    fields: (t) => ({
      deletedWebhookListenerId: t.exposeID('deletedWebhookListenerId', { nullable: true }),
      userErrors: t.field({ type: [DeleteError], resolve: ({ userErrors }) => userErrors }),
    }),
  });
  builder.mutationField('deleteWebhookListener', (t) =>
    t.field({
      type: DeletePayload,
      args: { input: t.arg({ type: DeleteInput, required: true }) },
      resolve(_, { input }, context) {
        checkId(context, 'WebhookListener', 'input.id', input.id);
        return deleteWebhookListener(context.actions, context.caller, input);
      },
    }),
  );
}
