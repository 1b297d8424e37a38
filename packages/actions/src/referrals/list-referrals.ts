import type { ReferralStatus } from '@deedwire/domain';
import { selectReferrals } from '@deedwire/store/referrals';
import type { ActionContext, Caller } from '../context.ts';
import { keysetPage, type Page, type PageRequest } from '../page.ts';
import { toReferral, type Referral } from './referral.ts';

/**
 * The caller's referrals, newest first.
 *
 * @param request.status null or undefined for referrals of any status
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function listReferrals(
  context: ActionContext,
  caller: Caller,
  request: PageRequest & { status?: ReferralStatus | null | undefined },
): Promise<Page<Referral>> {
  const filter = { accountId: caller.accountId, status: request.status ?? null };
  return keysetPage(
    'referrals',
    request,
    (query) => selectReferrals(context.store, filter, query),
    (row) => toReferral(context.gidNamespace, row),
  );
}
