import { selectTeamMembers } from '@deedwire/store/team-members';
import type { ActionContext, Caller } from '../context.ts';
import type { TeamMember } from './records.ts';
import { toTeamMember } from './to-team-member.ts';

/** The people of the caller's lender organization, in the order in which they were added, at most 250. */
export async function listTeamMembers(context: ActionContext, caller: Caller): Promise<TeamMember[]> {
  const rows = await selectTeamMembers(context.store, caller.accountId);
  return rows.map((row) => toTeamMember(context.gidNamespace, row));
}
