import { type AccountId, findReferralProblems, type ReferralDetails } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { insertReferral } from '@deedwire/store/referrals';
import { z } from 'zod';
import { findAccount } from './accounts.ts';
import { appendEvent } from './append-event.ts';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller, Operator, OperatorContext } from './context.ts';
import { inputError, RefusedError, type UserError } from './errors.ts';
import { type IdempotencyErrorCode, timeCodec, withIdempotencyKey } from './idempotency.ts';
import { type Referral, toReferral } from './referrals.ts';

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
  /** Whether it is the result of an earlier request with the same idempotency key. */
  isRepeated?: boolean;
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
      const userErrors = findInputErrors(details);
      if (userErrors.length > 0) return { referral: null, userErrors };
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
      return { referral: idempotency.saved.payload, userErrors: [], isRepeated: true };
    case 'rejected': {
      const { userError } = idempotency;
      // Other errors of a key are about another request.
      const others = userError.code === 'IDEMPOTENCY_KEY_INVALID' ? findInputErrors(details) : [];
      return { referral: null, userErrors: [...others, userError] };
    }
  }
}

function findInputErrors(details: ReferralDetails): UserError<CreateReferralErrorCode>[] {
  return findReferralProblems(details).map(({ detail, message }) => inputError(problemCodes[detail], detail, message));
}

/**
 * Creates a referral that a partner did not send through its interface. Appends `referral.created`.
 *
 * @throws {RefusedError} `NOT_FOUND` if the partner does not exist, `INVALID` if a detail is invalid
 */
export async function createReferralForPartner(
  context: OperatorContext,
  input: ReferralDetails & { partnerId: string },
): Promise<Referral> {
  const account = await findAccount(context, 'partner', input.partnerId);
  const problems = findReferralProblems(input);
  if (problems.length > 0) throw new RefusedError('INVALID', problems.map(({ message }) => message).join(' '));
  return context.store.transaction((transaction) =>
    insertReferralWithEvent(transaction, context.gidNamespace, context.operator, account.id, input),
  );
}

/** Inserts a referral of a partner and appends `referral.created`. The details must be valid. */
async function insertReferralWithEvent(
  transaction: Transaction,
  gidNamespace: string,
  by: Caller | Operator,
  partnerId: AccountId,
  details: ReferralDetails,
): Promise<Referral> {
  const account = { id: partnerId, interfaceName: 'partner' } as const;
  const referral = toReferral(gidNamespace, await insertReferral(transaction, partnerId, details));
  const { id, status, externalReference } = referral;
  const snapshot = { referral: { id, status, externalReference } };
  const requestId = 'clientId' in by ? by.requestId : undefined;
  await appendEvent(transaction, account, 'referral.created', snapshot, requestId);
  await appendAuditEntry(transaction, by, { action: 'referral.create', subject: id, account });
  return referral;
}

/** How a saved result keeps a referral. Results of earlier builds must stay readable for 24 hours: only add optional fields. */
export const referralCodec = z.object({
  id: z.string(),
  status: z.enum(['OPEN', 'CONVERTED', 'DECLINED']),
  clientName: z.string(),
  clientEmail: z.string().nullable(),
  externalReference: z.string().nullable(),
  note: z.string().nullable(),
  createdAt: timeCodec,
  closedAt: timeCodec.nullable(),
  matter: z.object({ id: z.string(), reference: z.string(), openedAt: timeCodec }).nullable(),
}) satisfies z.ZodType<Referral>;
