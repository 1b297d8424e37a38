import {
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionResult,
  verificationErrorCodes,
} from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { WebhookSubscriptionEventTypeInputRef } from './subscription-event-type-input.ts';
import type { WebhookSubscriptionRef } from './subscription.ts';

/** Adds `Mutation.updateWebhookSubscription`. */
export function addUpdateWebhookSubscription(
  builder: InterfaceSchemaBuilder,
  {
    Subscription,
    EventTypeInput,
    checkId,
  }: { Subscription: WebhookSubscriptionRef; EventTypeInput: WebhookSubscriptionEventTypeInputRef; checkId: CheckId },
): void {
  const Input = builder.inputType('UpdateWebhookSubscriptionInput', {
    fields: (t) => ({
      id: t.id({ required: true }),
      callbackUrl: t.string(),
      eventTypes: t.field({ type: [EventTypeInput] }),
    }),
  });
  const UserError = addUserError(builder, 'UpdateWebhookSubscription', [
    ...verificationErrorCodes,
    'EVENT_TYPES_INVALID',
    'EVENT_TYPE_UNKNOWN',
    'EVENT_VERSION_UNKNOWN',
    'LIMIT_REACHED',
    'NOT_FOUND',
  ]);
  const Payload = builder.objectRef<UpdateWebhookSubscriptionResult>('UpdateWebhookSubscriptionPayload').implement({
    fields: (t) => ({
      webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('updateWebhookSubscription', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve(_, { input }, context) {
        checkId(context, 'WebhookSubscription', 'input.id', input.id);
        return updateWebhookSubscription(context.actions, context.caller, input);
      },
    }),
  );
}
