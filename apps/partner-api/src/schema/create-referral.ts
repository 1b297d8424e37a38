import { idempotencyErrorCodes } from '@deedwire/actions';
import { createReferral } from '@deedwire/firm/partner';
import { addMutation, type InterfaceSchemaBuilder } from '@deedwire/graphql-server';
import type { ReferralRef } from './referral.ts';

/** Adds `Mutation.createReferral`. */
export function addCreateReferral(builder: InterfaceSchemaBuilder, Referral: ReferralRef): void {
  addMutation(builder, 'createReferral', {
    input: (t) => ({
      clientName: t.string({ required: true }),
      clientEmail: t.string(),
      externalReference: t.string(),
      note: t.string(),
      idempotencyKey: t.string(),
    }),
    codes: [
      'CLIENT_EMAIL_INVALID',
      'CLIENT_NAME_INVALID',
      'EXTERNAL_REFERENCE_INVALID',
      ...idempotencyErrorCodes,
      'NOTE_INVALID',
    ],
    resolve: (input, { actions, caller }) => createReferral(actions, caller, input),
    payload: (t) => ({ referral: t.expose('referral', { type: Referral, nullable: true }) }),
  });
}
