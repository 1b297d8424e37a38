import { deleteWebhookSubscription, type DeleteWebhookSubscriptionResult } from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';

/** Adds `Mutation.deleteWebhookSubscription`. */
export function addDeleteWebhookSubscription(builder: InterfaceSchemaBuilder): void {
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
      resolve: (_, { input }, { actions, caller }) => deleteWebhookSubscription(actions, caller, input),
    }),
  );
}
