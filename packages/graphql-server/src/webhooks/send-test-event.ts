import { sendTestWebhookEvent, type SendTestWebhookEventResult } from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import { markReplay } from '../schema/mark-replay.ts';

/** Adds `Mutation.sendTestWebhookEvent`. */
export function addSendTestWebhookEvent(builder: InterfaceSchemaBuilder, checkId: CheckId): void {
  const Input = builder.inputType('SendTestWebhookEventInput', {
    fields: (t) => ({
      subscriptionId: t.id({ required: true }),
      eventType: t.string({ defaultValue: 'webhook.test' }),
      idempotencyKey: t.string(),
    }),
  });
  const UserError = addUserError(builder, 'SendTestWebhookEvent', [
    'EVENT_TYPE_UNKNOWN',
    'IDEMPOTENCY_IN_PROGRESS',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'NOT_FOUND',
    'NOT_SUBSCRIBED',
    'TEST_RATE_LIMITED',
  ]);
  const Payload = builder.objectRef<SendTestWebhookEventResult>('SendTestWebhookEventPayload').implement({
    fields: (t) => ({
      webhookEventId: t.exposeID('webhookEventId', { nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('sendTestWebhookEvent', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve: async (_, { input }, context) => {
        checkId(context, ['WebhookSubscription', 'WebhookListener'], 'input.subscriptionId', input.subscriptionId);
        return markReplay(context, await sendTestWebhookEvent(context.actions, context.caller, input));
      },
    }),
  );
}
