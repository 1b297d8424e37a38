import { updateTeamMember as updateTeamMemberRow } from '@deedwire/store/team-members';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { appendTeamEvent } from './append-team-event.ts';
import { checkTeamMemberDetails, checkTeamMemberEmail } from './check-team-member.ts';
import { lockTeamMember } from './lock-team-member.ts';
import { toTeamMember, type TeamMember } from './team-member.ts';

/**
 * Changes the details of a team member. An omitted detail keeps its value. Appends `team_member.updated`, unless no value
 * changes.
 *
 * @throws {RefusedError} `INVALID` if a detail is invalid, `NOT_FOUND` if the team member does not exist, `CONFLICT` if another
 * team member has the address
 */
export async function updateTeamMember(
  context: OperatorContext,
  input: { teamMemberId: string; firstName?: string; lastName?: string; email?: string },
): Promise<TeamMember> {
  return context.store.transaction(async (transaction) => {
    const { lender, row } = await lockTeamMember(context, transaction, input.teamMemberId);
    const details = {
      firstName: input.firstName ?? row.firstName,
      lastName: input.lastName ?? row.lastName,
      email: input.email ?? row.email,
    };
    checkTeamMemberDetails(details);
    if (details.firstName === row.firstName && details.lastName === row.lastName && details.email === row.email) {
      return toTeamMember(context.gidNamespace, row);
    }
    await checkTeamMemberEmail(transaction, lender, details.email, row);
    const updated = toTeamMember(context.gidNamespace, await updateTeamMemberRow(transaction, row.id, details));
    await appendTeamEvent(context, transaction, 'team_member.updated', lender, updated);
    await appendAuditEntry(transaction, context.operator, {
      action: 'member.update',
      subject: updated.id,
      account: lender,
    });
    return updated;
  });
}
