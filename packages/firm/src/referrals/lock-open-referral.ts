import { type ActionContext, RefusedError } from '@deedwire/actions';
import { parseGid } from '@deedwire/core';
import type { Transaction } from '@deedwire/store';
import { type LockedReferralRow, lockReferral } from './referral-statements.ts';
import { canCloseReferral } from './referral.ts';

/**
 * Locks a referral that can be converted or declined.
 *
 * @throws {RefusedError} `NOT_FOUND` if the referral does not exist, `CONFLICT` if it is closed
 */
export async function lockOpenReferral(
  context: ActionContext,
  transaction: Transaction,
  gid: string,
): Promise<LockedReferralRow> {
  const id = parseGid(context.gidNamespace, 'Referral', gid);
  const referral = id === null ? null : await lockReferral(transaction, id);
  if (referral === null) throw new RefusedError('NOT_FOUND', `The referral ${gid} does not exist.`);
  if (!canCloseReferral(referral.status)) {
    throw new RefusedError('CONFLICT', `The referral ${gid} is already ${referral.status}.`);
  }
  return referral;
}
