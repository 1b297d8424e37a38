import { retryWebhookDelivery, type RetryWebhookDeliveryResult } from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { WebhookDeliveryRef } from './delivery.ts';

/** Adds `Mutation.retryWebhookDelivery`. */
export function addRetryWebhookDelivery(
  builder: InterfaceSchemaBuilder,
  Delivery: WebhookDeliveryRef,
  checkId: CheckId,
): void {
  const Input = builder.inputType('RetryWebhookDeliveryInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });
  const UserError = addUserError(builder, 'RetryWebhookDelivery', [
    'DELIVERY_EXPIRED',
    'NOT_FOUND',
    'PAYLOAD_UNAVAILABLE',
    'RETRY_RATE_LIMITED',
  ]);
  const Payload = builder.objectRef<RetryWebhookDeliveryResult>('RetryWebhookDeliveryPayload').implement({
    fields: (t) => ({
      webhookDelivery: t.expose('webhookDelivery', { type: Delivery, nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('retryWebhookDelivery', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve(_, { input }, context) {
        checkId(context, 'WebhookDelivery', 'input.id', input.id);
        return retryWebhookDelivery(context.actions, context.caller, input);
      },
    }),
  );
}
