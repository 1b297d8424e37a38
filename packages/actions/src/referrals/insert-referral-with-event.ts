import type { AccountId, ReferralDetails } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { insertReferral } from '@deedwire/store/referrals';
import { appendEvent } from '../append-event.ts';
import { toReferral, type Referral } from './referral.ts';

/** Inserts a referral and appends `referral.created`. The details must be valid. */
export async function insertReferralWithEvent(
  transaction: Transaction,
  gidNamespace: string,
  accountId: AccountId,
  details: ReferralDetails,
  requestId?: string,
): Promise<Referral> {
  const referral = toReferral(gidNamespace, await insertReferral(transaction, accountId, details));
  const { id, status, externalReference } = referral;
  const snapshot = { referral: { id, status, externalReference } };
  await appendEvent(transaction, { id: accountId, interfaceName: 'partner' }, 'referral.created', snapshot, requestId);
  return referral;
}
