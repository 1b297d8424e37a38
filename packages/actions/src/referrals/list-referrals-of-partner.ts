import type { ReferralStatus } from '@deedwire/domain';
import { selectReferrals } from '@deedwire/store/referrals';
import { findAccount } from '../accounts/find-account.ts';
import type { ActionContext } from '../context.ts';
import { keysetPage, type Page, type PageRequest } from '../page.ts';
import { toReferral, type Referral } from './referral.ts';

/**
 * The referrals of a partner, newest first.
 *
 * @param request.status null for referrals of any status
 * @throws {RefusedError} `NOT_FOUND` if the partner does not exist
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function listReferralsOfPartner(
  context: ActionContext,
  request: PageRequest & { partnerId: string; status: ReferralStatus | null },
): Promise<Page<Referral>> {
  const account = await findAccount(context, 'partner', request.partnerId);
  return keysetPage(
    'referrals',
    request,
    (query) => selectReferrals(context.store, { accountId: account.id, status: request.status }, query),
    (row) => toReferral(context.gidNamespace, row),
  );
}
