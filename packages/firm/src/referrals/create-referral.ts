import { type ActionContext, type Caller, type OperatorContext, RefusedError, type UserError } from '@deedwire/actions';
import {
  appendedEvent,
  auditedChange,
  findAccount,
  type IdempotencyErrorCode,
  inputError,
  isCaller,
  type MutationResult,
  type Operator,
  resultOf,
  timeCodec,
  writeWithIdempotencyKey,
} from '@deedwire/actions/use-case';
import { type AccountId, formatGid, toRecordId } from '@deedwire/core';
import type { SharedWrite } from '@deedwire/store';
import { workerOf } from '@deedwire/webhooks/outbox';
import { z } from 'zod';
import { referralCreated } from '../events/referral.created/event.ts';
import { referralRow } from './referral-statements.ts';
import { findReferralProblems, type ReferralDetails, referralStatuses } from './referral.ts';
import type { Referral } from './referrals.ts';

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

export type CreateReferralResult = MutationResult<{ referral: Referral }, CreateReferralErrorCode>;

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
  const inputErrors = findInputErrors(details);
  const write = inputErrors.length > 0 ? null : newReferral(context, caller, caller.accountId, details);
  const written = await writeWithIdempotencyKey<Referral>(context, caller, request, write);
  return resultOf<Referral, CreateReferralErrorCode, CreateReferralResult>(
    written.kind === 'done' ? { kind: 'done', result: { referral: written.result, userErrors: inputErrors } } : written,
    {
      repeat: (saved) => ({ referral: saved.payload, userErrors: [] }),
      reject: (userErrors) => ({ referral: null, userErrors }),
      findInputErrors: () => inputErrors,
    },
  );
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
  const { id: accountId } = await findAccount(context, 'partner', input.partnerId);
  const problems = findReferralProblems(input);
  if (problems.length > 0) throw new RefusedError('INVALID', problems.map(({ message }) => message).join(' '));
  const { operator, store } = context;
  const write = newReferral(context, operator, accountId, input);
  const written = await store.write({ accountId, clientId: operator.name, operation: context, key: null, ...write });
  if (written.kind !== 'written') throw new Error('A write without a key was not written.');
  return written.answer;
}

/** What a new referral of a partner writes: its row, the event `referral.created` and an entry of the audit log. */
function newReferral(
  context: ActionContext,
  by: Caller | Operator,
  partnerId: AccountId,
  details: ReferralDetails,
): Pick<SharedWrite<Referral>, 'ids' | 'rows'> {
  const account = { id: partnerId, interfaceName: 'partner' } as const;
  const { clientName, clientEmail, externalReference, note } = details;
  return {
    ids: 2,
    rows({ now, ids: [drawnId = '', eventId = ''] }) {
      const referralId = toRecordId<'Referral'>(drawnId);
      const id = formatGid(context.gidNamespace, 'Referral', referralId);
      const referral: Referral = {
        id,
        status: 'OPEN',
        clientName,
        clientEmail,
        externalReference,
        note,
        createdAt: now,
        closedAt: null,
        matter: null,
      };
      const snapshot = { referral: { id, status: referral.status, externalReference } };
      const cause = isCaller(by) ? by : undefined;
      return {
        rows: [
          referralRow(referralId, partnerId, details),
          appendedEvent(context, eventId, account, referralCreated, snapshot, cause),
          auditedChange(by, { action: 'referral.create', subject: id, account }),
        ],
        answer: referral,
        saved: () => ({ payload: referralCodec.encode(referral), secretCiphertext: null, recordId: null }),
        notify: [workerOf(partnerId)],
      };
    },
  };
}

/** How a saved result keeps a referral. Results of earlier builds must stay readable for 24 hours: only add optional fields. */
export const referralCodec = z.object({
  id: z.string(),
  status: z.enum(referralStatuses),
  clientName: z.string(),
  clientEmail: z.string().nullable(),
  externalReference: z.string().nullable(),
  note: z.string().nullable(),
  createdAt: timeCodec,
  closedAt: timeCodec.nullable(),
  matter: z.object({ id: z.string(), reference: z.string(), openedAt: timeCodec }).nullable(),
}) satisfies z.ZodType<Referral>;
