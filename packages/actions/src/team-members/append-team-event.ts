import { formatAccountGid } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import type { AccountRow } from '@deedwire/store/accounts';
import { appendEvent } from '../append-event.ts';
import type { ActionContext } from '../context.ts';
import type { TeamMember } from './team-member.ts';

/** Appends an event about a team member, in the transaction of the change. */
export async function appendTeamEvent(
  context: ActionContext,
  transaction: Transaction,
  type: 'team_member.added' | 'team_member.removed' | 'team_member.updated',
  lender: AccountRow,
  teamMember: TeamMember,
): Promise<void> {
  await appendEvent(transaction, lender, type, {
    lender: { id: formatAccountGid(context.gidNamespace, 'lender', lender.id), name: lender.name },
    teamMember,
  });
}
