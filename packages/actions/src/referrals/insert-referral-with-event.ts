import type { AccountId, ReferralDetails } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { insertReferral } from '@deedwire/store/referrals';
import { appendAuditEntry } from '../append-audit-entry.ts';
import { appendEvent } from '../append-event.ts';
import type { Caller, Operator } from '../context.ts';
import { toReferral, type Referral } from './referral.ts';

/** Inserts a referral of a partner and appends `referral.created`. The details must be valid. */
export async function insertReferralWithEvent(
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
