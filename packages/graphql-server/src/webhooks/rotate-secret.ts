import { rotateWebhookSecret, type RotateWebhookSecretResult } from '@deedwire/actions';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import { markReplay } from '../schema/mark-replay.ts';
import type { WebhookSubscriptionRef } from './subscription.ts';

/** Adds `Mutation.rotateWebhookSecret`. */
export function addRotateWebhookSecret(
  builder: InterfaceSchemaBuilder,
  Subscription: WebhookSubscriptionRef,
  checkId: CheckId,
): void {
  const Input = builder.inputType('RotateWebhookSecretInput', {
    fields: (t) => ({
      id: t.id({ required: true }),
      webhookSecret: t.string(),
      overlapSeconds: t.int({ defaultValue: 86_400 }),
      idempotencyKey: t.string(),
    }),
  });
  const UserError = addUserError(builder, 'RotateWebhookSecret', [
    'IDEMPOTENCY_IN_PROGRESS',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'NOT_FOUND',
    'OVERLAP_INVALID',
    'ROTATION_IN_PROGRESS',
    'WEBHOOK_SECRET_INVALID',
  ]);
  const Payload = builder.objectRef<RotateWebhookSecretResult>('RotateWebhookSecretPayload').implement({
    fields: (t) => ({
      webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }),
      webhookSecret: t.exposeString('webhookSecret', { nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('rotateWebhookSecret', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve: async (_, { input }, context) => {
        checkId(context, 'WebhookSubscription', 'input.id', input.id);
        return markReplay(context, await rotateWebhookSecret(context.actions, context.caller, input));
      },
    }),
  );
}
