import { findReferralProblems, type ReferralDetails } from '@deedwire/domain';
import type { ActionContext, Caller } from '../context.ts';
import { withIdempotencyKey, type IdempotencyErrorCode } from '../idempotency.ts';
import { inputError, type UserError } from '../user-error.ts';
import { insertReferralWithEvent } from './insert-referral-with-event.ts';
import { referralCodec } from './referral-codec.ts';
import type { Referral } from './referral.ts';

/** The user errors of `createReferral`. */
export type CreateReferralErrorCode =
  | IdempotencyErrorCode
  | 'CLIENT_EMAIL_INVALID'
  | 'CLIENT_NAME_INVALID'
  | 'EXTERNAL_REFERENCE_INVALID'
  | 'NOTE_INVALID';

/** `CreateReferralInput`. A field that is null or undefined is not set. */
export interface CreateReferralInput {
  clientName: string;
  clientEmail?: string | null | undefined;
  externalReference?: string | null | undefined;
  note?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** Either a referral, or user errors. */
export interface CreateReferralResult {
  referral: Referral | null;
  userErrors: UserError<CreateReferralErrorCode>[];
}

const problemCodes = {
  clientEmail: 'CLIENT_EMAIL_INVALID',
  clientName: 'CLIENT_NAME_INVALID',
  externalReference: 'EXTERNAL_REFERENCE_INVALID',
  note: 'NOTE_INVALID',
} as const satisfies Record<keyof ReferralDetails, CreateReferralErrorCode>;

/** Creates a referral of the caller, a partner. Appends `referral.created`. */
export async function createReferral(
  context: ActionContext,
  caller: Caller,
  input: CreateReferralInput,
): Promise<CreateReferralResult> {
  const details: ReferralDetails = {
    clientName: input.clientName,
    clientEmail: input.clientEmail ?? null,
    externalReference: input.externalReference ?? null,
    note: input.note ?? null,
  };
  const request = { mutation: 'createReferral', key: input.idempotencyKey, input: details, codec: referralCodec };
  const idempotency = await withIdempotencyKey<Referral, CreateReferralResult>(
    context,
    caller,
    request,
    async (saveResult) => {
      const problems = findReferralProblems(details);
      if (problems.length > 0) {
        const userErrors = problems.map(({ detail, message }) => inputError(problemCodes[detail], detail, message));
        return { referral: null, userErrors };
      }
      const referral = await context.store.transaction(async (transaction) => {
        const { gidNamespace } = context;
        const created = await insertReferralWithEvent(transaction, gidNamespace, caller, caller.accountId, details);
        await saveResult(transaction, { payload: created, secretCiphertext: null, recordId: null });
        return created;
      });
      return { referral, userErrors: [] };
    },
  );
  switch (idempotency.kind) {
    case 'done':
      return idempotency.result;
    case 'repeated':
      return { referral: idempotency.saved.payload, userErrors: [] };
    case 'rejected':
      return { referral: null, userErrors: [idempotency.userError] };
  }
}
