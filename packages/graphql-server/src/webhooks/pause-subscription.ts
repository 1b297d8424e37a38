import { pauseWebhookSubscription, type PauseWebhookSubscriptionResult } from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { WebhookSubscriptionRef } from './subscription.ts';

/** Adds `Mutation.pauseWebhookSubscription`. */
export function addPauseWebhookSubscription(
  builder: InterfaceSchemaBuilder,
  Subscription: WebhookSubscriptionRef,
  checkId: CheckId,
): void {
  const Input = builder.inputType('PauseWebhookSubscriptionInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });
  const UserError = addUserError(builder, 'PauseWebhookSubscription', ['NOT_FOUND']);
  const Payload = builder.objectRef<PauseWebhookSubscriptionResult>('PauseWebhookSubscriptionPayload').implement({
    fields: (t) => ({
      webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('pauseWebhookSubscription', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve(_, { input }, context) {
        checkId(context, 'WebhookSubscription', 'input.id', input.id);
        return pauseWebhookSubscription(context.actions, context.caller, input);
      },
    }),
  );
}
