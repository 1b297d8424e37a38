import { selectTeamMembersPage } from '@deedwire/store/team-members';
import type { ActionContext, Caller } from '../context.ts';
import { keysetPage, type Page, type PageRequest } from '../page.ts';
import { toTeamMember, type TeamMember } from './team-member.ts';

/**
 * A page of the team members of the calling lender, oldest first.
 *
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function pageTeamMembers(
  context: ActionContext,
  caller: Caller,
  request: PageRequest,
): Promise<Page<TeamMember>> {
  return keysetPage(
    'members',
    request,
    (query) => selectTeamMembersPage(context.store, caller.accountId, query),
    (row) => toTeamMember(context.gidNamespace, row),
  );
}
