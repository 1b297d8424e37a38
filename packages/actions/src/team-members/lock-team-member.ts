import { parseGid } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { lockAccount, type AccountRow } from '@deedwire/store/accounts';
import { lockTeamMember as lockTeamMemberRow, type TeamMemberRow } from '@deedwire/store/team-members';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

/**
 * Locks a team member and the lender.
 *
 * @throws {RefusedError} `NOT_FOUND` if the team member does not exist
 */
export async function lockTeamMember(
  context: ActionContext,
  transaction: Transaction,
  gid: string,
): Promise<{ lender: AccountRow; row: TeamMemberRow }> {
  const id = parseGid(context.gidNamespace, 'TeamMember', gid);
  const row = id === null ? null : await lockTeamMemberRow(transaction, id);
  const lender = row === null ? null : await lockAccount(transaction, 'lender', row.accountId);
  if (row === null || lender === null) throw new RefusedError('NOT_FOUND', `The team member ${gid} does not exist.`);
  return { lender, row };
}
