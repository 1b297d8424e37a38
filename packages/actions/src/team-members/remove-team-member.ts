import { deleteTeamMember } from '@deedwire/store/team-members';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { appendTeamEvent } from './append-team-event.ts';
import { lockTeamMember } from './lock-team-member.ts';
import { toTeamMember, type TeamMember } from './team-member.ts';

/**
 * Removes a team member from a lender. Appends `team_member.removed`.
 *
 * @returns the team member before the removal
 * @throws {RefusedError} `NOT_FOUND` if the team member does not exist
 */
export async function removeTeamMember(context: OperatorContext, input: { teamMemberId: string }): Promise<TeamMember> {
  return context.store.transaction(async (transaction) => {
    const { lender, row } = await lockTeamMember(context, transaction, input.teamMemberId);
    await deleteTeamMember(transaction, row.id);
    const removed = toTeamMember(context.gidNamespace, row);
    await appendTeamEvent(context, transaction, 'team_member.removed', lender, removed);
    await appendAuditEntry(transaction, context.operator, {
      action: 'member.remove',
      subject: removed.id,
      account: lender,
    });
    return removed;
  });
}
