import { canCloseReferral, formatGid, formatMatterReference, isDeclineReason, parseGid } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { insertMatter, reserveMatter } from '@deedwire/store/matters';
import { closeReferral, lockReferral } from '@deedwire/store/referrals';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { appendEvent } from '../events/append-event.ts';

/**
 * Converts an open referral into a matter. Reports `referral.converted`.
 *
 * @throws RefusedError `NOT_FOUND`; `CONFLICT` when the referral is closed already
 */
export async function convertReferral(
  context: ActionContext,
  input: { referralId: string },
): Promise<{ referralId: string; matterId: string }> {
  const matterId = await context.store.transaction(async (transaction) => {
    const referral = await lockOpenReferral(context, transaction, input.referralId);
    const { closedAt } = await closeReferral(transaction, referral.id, { status: 'CONVERTED', reason: null });
    const reserved = await reserveMatter(transaction);
    const matter = { ...reserved, reference: formatMatterReference(reserved.id, reserved.openedAt) };
    await insertMatter(transaction, referral.id, matter);
    const matterGid = formatGid(context.gidNamespace, 'Matter', matter.id);
    await appendEvent(transaction, { id: referral.accountId, interfaceName: 'partner' }, 'referral.converted', {
      referral: { id: input.referralId, status: 'CONVERTED', externalReference: referral.externalReference },
      matter: { id: matterGid, reference: matter.reference, openedAt: matter.openedAt.toISOString() },
      convertedAt: closedAt.toISOString(),
    });
    return matterGid;
  });
  return { referralId: input.referralId, matterId };
}

/**
 * Declines an open referral. Reports `referral.declined`.
 *
 * @param input.reason for the partner to read; null when none is given
 * @throws RefusedError `NOT_FOUND`, `INVALID`; `CONFLICT` when the referral is closed already
 */
export async function declineReferral(
  context: ActionContext,
  input: { referralId: string; reason: string | null },
): Promise<{ referralId: string; declinedAt: Date }> {
  const { reason } = input;
  if (reason !== null && !isDeclineReason(reason)) {
    throw new RefusedError('INVALID', 'The reason must be 1 to 1,000 characters and not blank.');
  }
  const declinedAt = await context.store.transaction(async (transaction) => {
    const referral = await lockOpenReferral(context, transaction, input.referralId);
    const { closedAt } = await closeReferral(transaction, referral.id, { status: 'DECLINED', reason });
    await appendEvent(transaction, { id: referral.accountId, interfaceName: 'partner' }, 'referral.declined', {
      referral: { id: input.referralId, status: 'DECLINED', externalReference: referral.externalReference },
      declinedAt: closedAt.toISOString(),
      reason,
    });
    return closedAt;
  });
  return { referralId: input.referralId, declinedAt };
}

async function lockOpenReferral(context: ActionContext, transaction: Transaction, gid: string) {
  const id = parseGid(context.gidNamespace, 'Referral', gid);
  const referral = id === null ? null : await lockReferral(transaction, id);
  if (referral === null) throw new RefusedError('NOT_FOUND', `There is no referral ${gid}.`);
  if (!canCloseReferral(referral.status)) {
    throw new RefusedError('CONFLICT', `Referral ${gid} is ${referral.status} already.`);
  }
  return referral;
}
