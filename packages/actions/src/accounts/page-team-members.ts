import { selectTeamMembersPage } from '@deedwire/store/team-members';
import type { ActionContext, Caller } from '../context.ts';
import { readPage, type Page, type PageRequest } from '../page.ts';
import type { TeamMember } from './records.ts';
import { toTeamMember } from './to-team-member.ts';

/**
 * A page of the people of the caller's lender organization, in the order in which they were added.
 *
 * @throws InvalidArgumentError
 */
export async function pageTeamMembers(
  context: ActionContext,
  caller: Caller,
  request: PageRequest,
): Promise<Page<TeamMember>> {
  return readPage(
    'members',
    request,
    (query) => selectTeamMembersPage(context.store, caller.accountId, query),
    (row) => toTeamMember(context.gidNamespace, row),
  );
}
