import { parseGid, teamMembersMax, type TeamMemberDetails } from '@deedwire/domain';
import { lockAccount } from '@deedwire/store/accounts';
import { countTeamMembers, insertTeamMember } from '@deedwire/store/team-members';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { appendTeamEvent } from './append-team-event.ts';
import { checkTeamMemberDetails, checkTeamMemberEmail } from './check-team-member.ts';
import { toTeamMember, type TeamMember } from './team-member.ts';

/**
 * Adds a team member to a lender. Appends `team_member.added`.
 *
 * @throws {RefusedError} `INVALID` if a detail is invalid, `NOT_FOUND` if the lender does not exist, `CONFLICT` if another team
 * member has the address, `LIMIT_REACHED` if the lender has 250 team members
 */
export async function addTeamMember(
  context: OperatorContext,
  input: TeamMemberDetails & { lenderId: string },
): Promise<TeamMember> {
  checkTeamMemberDetails(input);
  const lenderId = parseGid(context.gidNamespace, 'Lender', input.lenderId);
  return context.store.transaction(async (transaction) => {
    // The lock keeps the count and the address valid until the commit.
    const lender = lenderId === null ? null : await lockAccount(transaction, 'lender', lenderId);
    if (lender === null) throw new RefusedError('NOT_FOUND', `The lender ${input.lenderId} does not exist.`);
    const found = await countTeamMembers(transaction, lender.id);
    if (found >= teamMembersMax) {
      throw new RefusedError(
        'LIMIT_REACHED',
        `The lender has ${found} team members; at most ${teamMembersMax} are allowed.`,
      );
    }
    await checkTeamMemberEmail(transaction, lender, input.email, null);
    const row = await insertTeamMember(transaction, lender.id, input);
    const added = toTeamMember(context.gidNamespace, row);
    await appendTeamEvent(context, transaction, 'team_member.added', lender, added);
    await appendAuditEntry(transaction, context.operator, {
      action: 'member.add',
      subject: added.id,
      account: lender,
    });
    return added;
  });
}
