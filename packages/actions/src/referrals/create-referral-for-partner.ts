import { findReferralProblems, type ReferralDetails } from '@deedwire/domain';
import { findAccount } from '../accounts/find-account.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { insertReferralWithEvent } from './insert-referral-with-event.ts';
import type { Referral } from './referral.ts';

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
