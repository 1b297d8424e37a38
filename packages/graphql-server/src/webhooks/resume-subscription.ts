import {
  resumeWebhookSubscription,
  type ResumeWebhookSubscriptionResult,
  verificationErrorCodes,
} from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { WebhookSubscriptionRef } from './subscription.ts';

/** Adds `Mutation.resumeWebhookSubscription`. */
export function addResumeWebhookSubscription(
  builder: InterfaceSchemaBuilder,
  Subscription: WebhookSubscriptionRef,
  checkId: CheckId,
): void {
  const Input = builder.inputType('ResumeWebhookSubscriptionInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });
  const UserError = addUserError(builder, 'ResumeWebhookSubscription', [
    ...verificationErrorCodes,
    'NOT_FOUND',
    'VERSION_RETIRED',
  ]);
  const Payload = builder.objectRef<ResumeWebhookSubscriptionResult>('ResumeWebhookSubscriptionPayload').implement({
    fields: (t) => ({
      webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('resumeWebhookSubscription', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve(_, { input }, context) {
        checkId(context, 'WebhookSubscription', 'input.id', input.id);
        return resumeWebhookSubscription(context.actions, context.caller, input);
      },
    }),
  );
}
