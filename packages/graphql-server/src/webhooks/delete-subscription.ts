import { deleteWebhookSubscription, type DeleteWebhookSubscriptionResult } from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';

/** Adds `Mutation.deleteWebhookSubscription`. */
export function addDeleteWebhookSubscription(builder: InterfaceSchemaBuilder, checkId: CheckId): void {
  const Input = builder.inputType('DeleteWebhookSubscriptionInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });
  const UserError = addUserError(builder, 'DeleteWebhookSubscription', ['NOT_FOUND']);
  const Payload = builder.objectRef<DeleteWebhookSubscriptionResult>('DeleteWebhookSubscriptionPayload').implement({
    fields: (t) => ({
      deletedWebhookSubscriptionId: t.exposeID('deletedWebhookSubscriptionId', { nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('deleteWebhookSubscription', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve(_, { input }, context) {
        checkId(context, 'WebhookSubscription', 'input.id', input.id);
        return deleteWebhookSubscription(context.actions, context.caller, input);
      },
    }),
  );
}
