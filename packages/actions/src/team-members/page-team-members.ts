import type { Caller, LenderContext } from '../context.ts';
import { keysetPage, type Page, type PageRequest } from '../page.ts';
import { toTeamMember, type TeamMember } from './team-member.ts';

/**
 * A page of the team members of the calling lender, oldest first.
 *
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function pageTeamMembers(
  context: LenderContext,
  caller: Caller,
  request: PageRequest,
): Promise<Page<TeamMember>> {
  return keysetPage(
    'members',
    request,
    (query) => context.lenders.readMembers(caller.accountId, query),
    (row) => toTeamMember(context.gidNamespace, row),
  );
}
