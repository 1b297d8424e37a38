import { type OperatorContext, RefusedError } from '@deedwire/actions';
import { appendAuditEntry, appendEvent } from '@deedwire/actions/use-case';
import { describeLength } from '@deedwire/core';
import { referralDeclined } from '../events/referral.declined/event.ts';
import { lockOpenReferral } from './lock-open-referral.ts';
import { closeReferral } from './referral-statements.ts';
import { isDeclineReason } from './referral.ts';

/**
 * Declines an open referral. Appends `referral.declined`.
 *
 * @param input.reason shown to the partner; null if there is none
 * @throws {RefusedError} `INVALID` if the reason is blank or too long, `NOT_FOUND` if the referral does not exist, `CONFLICT` if
 * it is closed
 */
export async function declineReferral(
  context: OperatorContext,
  input: { referralId: string; reason: string | null },
): Promise<{ referralId: string; declinedAt: Date }> {
  const { reason } = input;
  if (reason !== null && !isDeclineReason(reason)) {
    throw new RefusedError(
      'INVALID',
      `The reason must be 1 to 1,000 characters and not blank. It has ${describeLength(reason)}.`,
    );
  }
  const declinedAt = await context.store.transaction(async (transaction) => {
    const referral = await lockOpenReferral(context, transaction, input.referralId);
    const { closedAt } = await closeReferral(transaction, referral.id, { status: 'DECLINED', reason });
    const account = { id: referral.accountId, interfaceName: 'partner' } as const;
    await appendEvent(context, transaction, account, referralDeclined, {
      referral: { id: input.referralId, status: 'DECLINED', externalReference: referral.externalReference },
      declinedAt: closedAt.toISOString(),
      reason,
    });
    await appendAuditEntry(transaction, context.operator, {
      action: 'referral.decline',
      subject: input.referralId,
      account,
    });
    return closedAt;
  });
  return { referralId: input.referralId, declinedAt };
}
