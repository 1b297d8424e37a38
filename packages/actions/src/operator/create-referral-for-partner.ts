import { findReferralProblems, parseAccountGid, type ReferralDetails } from '@deedwire/domain';
import { selectAccount } from '@deedwire/store/accounts';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { insertReferralWithEvent } from '../referrals/insert-referral-with-event.ts';
import type { Referral } from '../referrals/records.ts';

/**
 * Enters a referral that a partner made by other means than its interface. Reports `referral.created`.
 *
 * @throws RefusedError `NOT_FOUND`, `INVALID`
 */
export async function createReferralForPartner(
  context: ActionContext,
  input: ReferralDetails & { partnerId: string },
): Promise<Referral> {
  const id = parseAccountGid(context.gidNamespace, 'partner', input.partnerId);
  const account = id === null ? null : await selectAccount(context.store, 'partner', id);
  if (account === null) throw new RefusedError('NOT_FOUND', `There is no partner ${input.partnerId}.`);
  const problems = findReferralProblems(input);
  if (problems.length > 0) throw new RefusedError('INVALID', problems.map(({ message }) => message).join(' '));
  const referral = await context.store.transaction((transaction) =>
    insertReferralWithEvent(transaction, context.gidNamespace, account.id, input),
  );
  return referral;
}
