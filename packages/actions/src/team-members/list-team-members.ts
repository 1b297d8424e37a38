import { selectTeamMembers } from '@deedwire/store/team-members';
import type { ActionContext, Caller } from '../context.ts';
import { toTeamMember, type TeamMember } from './team-member.ts';

/** All team members of the calling lender, oldest first. A lender has at most 250. */
export async function listTeamMembers(context: ActionContext, caller: Caller): Promise<TeamMember[]> {
  const rows = await selectTeamMembers(context.store, caller.accountId);
  return rows.map((row) => toTeamMember(context.gidNamespace, row));
}
