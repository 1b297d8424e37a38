import { teamMembersMax } from '@deedwire/domain';
import type { Caller, LenderContext } from '../context.ts';
import { toTeamMember, type TeamMember } from './team-member.ts';

/** All team members of the calling lender, oldest first. */
export async function listTeamMembers({ lenders, gidNamespace }: LenderContext, caller: Caller): Promise<TeamMember[]> {
  const rows = await lenders.readMembers(caller.accountId, { afterId: null, limit: teamMembersMax });
  return rows.map((row) => toTeamMember(gidNamespace, row));
}
