import {
  createWebhookListener,
  deleteWebhookListener,
  eventTypesErrorCodes,
  idempotencyErrorCodes,
  listWebhookListeners,
  type WebhookListener,
} from '@deedwire/actions';
import { addMutation } from '../schema/add-mutation.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { WebhookParts } from './webhook-parts.ts';

/** Adds `WebhookListener`, `Query.webhookListeners`, `Mutation.createWebhookListener` and `Mutation.deleteWebhookListener`. */
export function addWebhookListener(
  builder: InterfaceSchemaBuilder,
  { EventType, EventTypeInput, checkId }: WebhookParts,
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

  addMutation(builder, 'createWebhookListener', {
    input: (t) => ({
      eventTypes: t.field({ type: [EventTypeInput], required: true }),
      idempotencyKey: t.string(),
    }),
    codes: [...eventTypesErrorCodes, 'FORBIDDEN', ...idempotencyErrorCodes, 'LIMIT_REACHED'],
    resolve: (input, { actions, caller }) => createWebhookListener(actions, caller, input),
    payload: (t) => ({ webhookListener: t.expose('webhookListener', { type: Listener, nullable: true }) }),
  });

  addMutation(builder, 'deleteWebhookListener', {
    input: (t) => ({ id: t.id({ required: true }) }),
    codes: ['NOT_FOUND'],
    id: { checkId, name: 'id', typeName: 'WebhookListener' },
    resolve: (input, { actions, caller }) => deleteWebhookListener(actions, caller, input),
    payload: (t) => ({ deletedWebhookListenerId: t.exposeID('deletedWebhookListenerId', { nullable: true }) }),
  });
}
