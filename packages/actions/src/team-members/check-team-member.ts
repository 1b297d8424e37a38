import { findTeamMemberProblems, type TeamMemberDetails } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import type { AccountRow } from '@deedwire/store/accounts';
import { isTeamMemberEmailTaken, type TeamMemberRow } from '@deedwire/store/team-members';
import { RefusedError } from '../errors.ts';

/** @throws {RefusedError} `INVALID`, with every problem of the details */
export function checkTeamMemberDetails(details: TeamMemberDetails): void {
  const problems = findTeamMemberProblems(details);
  if (problems.length > 0) throw new RefusedError('INVALID', problems.join(' '));
}

/**
 * The lender must be locked: otherwise two transactions can add the same address.
 *
 * @param member the team member who may keep the address; null for a new one
 * @throws {RefusedError} `CONFLICT` if another team member of the lender has the address
 */
export async function checkTeamMemberEmail(
  transaction: Transaction,
  lender: AccountRow,
  email: string,
  member: TeamMemberRow | null,
): Promise<void> {
  if (await isTeamMemberEmailTaken(transaction, lender.id, email, member?.id ?? null)) {
    throw new RefusedError('CONFLICT', `Another team member of ${lender.name} has the address ${email}.`);
  }
}
