import {
  createWebhookSubscription,
  type CreateWebhookSubscriptionResult,
  verificationErrorCodes,
} from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import { markReplay } from '../schema/mark-replay.ts';
import type { WebhookSubscriptionEventTypeInputRef } from './subscription-event-type-input.ts';
import type { WebhookSubscriptionRef } from './subscription.ts';

/** Adds `Mutation.createWebhookSubscription`. */
export function addCreateWebhookSubscription(
  builder: InterfaceSchemaBuilder,
  Subscription: WebhookSubscriptionRef,
  EventTypeInput: WebhookSubscriptionEventTypeInputRef,
): void {
  const Input = builder.inputType('CreateWebhookSubscriptionInput', {
    fields: (t) => ({
      callbackUrl: t.string({ required: true }),
      eventTypes: t.field({ type: [EventTypeInput], required: true }),
      webhookSecret: t.string(),
      idempotencyKey: t.string(),
    }),
  });
  const UserError = addUserError(builder, 'CreateWebhookSubscription', [
    ...verificationErrorCodes,
    'EVENT_TYPES_INVALID',
    'EVENT_TYPE_UNKNOWN',
    'EVENT_VERSION_UNKNOWN',
    'IDEMPOTENCY_IN_PROGRESS',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'LIMIT_REACHED',
    'WEBHOOK_SECRET_INVALID',
  ]);
  const Payload = builder.objectRef<CreateWebhookSubscriptionResult>('CreateWebhookSubscriptionPayload').implement({
    fields: (t) => ({
      webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }),
      webhookSecret: t.exposeString('webhookSecret', { nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('createWebhookSubscription', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve: async (_, { input }, context) =>
        markReplay(context, await createWebhookSubscription(context.actions, context.caller, input)),
    }),
  );
}
