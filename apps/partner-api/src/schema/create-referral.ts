import { createReferral, type CreateReferralResult } from '@deedwire/actions';
import { addUserError, type InterfaceSchemaBuilder, markReplay } from '@deedwire/graphql-server';
import type { ReferralRef } from './referral.ts';

/** Adds `Mutation.createReferral`. */
export function addCreateReferral(builder: InterfaceSchemaBuilder, Referral: ReferralRef): void {
  const Input = builder.inputType('CreateReferralInput', {
    fields: (t) => ({
      clientName: t.string({ required: true }),
      clientEmail: t.string(),
      externalReference: t.string(),
      note: t.string(),
      idempotencyKey: t.string(),
    }),
  });
  const UserError = addUserError(builder, 'CreateReferral', [
    'CLIENT_EMAIL_INVALID',
    'CLIENT_NAME_INVALID',
    'EXTERNAL_REFERENCE_INVALID',
    'IDEMPOTENCY_IN_PROGRESS',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'NOTE_INVALID',
  ]);
  const Payload = builder.objectRef<CreateReferralResult>('CreateReferralPayload').implement({
    fields: (t) => ({
      referral: t.expose('referral', { type: Referral, nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('createReferral', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve: async (_, { input }, context) =>
        markReplay(context, await createReferral(context.actions, context.caller, input)),
    }),
  );
}
