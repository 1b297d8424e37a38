import {
  findTeamMemberProblems,
  formatAccountGid,
  parseGid,
  teamMembersMax,
  type TeamMemberDetails,
} from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { lockAccount, type AccountRow } from '@deedwire/store/accounts';
import {
  countTeamMembers,
  deleteTeamMember,
  insertTeamMember,
  isTeamMemberEmailTaken,
  lockTeamMember,
  updateTeamMember as updateTeamMemberRow,
  type TeamMemberRow,
} from '@deedwire/store/team-members';
import type { TeamMember } from '../accounts/records.ts';
import { toTeamMember } from '../accounts/to-team-member.ts';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { appendEvent } from '../events/append-event.ts';

/**
 * Adds a person to a lender. Reports `team_member.added`.
 *
 * @throws RefusedError `INVALID`, `NOT_FOUND`, `CONFLICT` for an address that another has, `LIMIT_REACHED` at 250
 */
export async function addTeamMember(
  context: ActionContext,
  input: TeamMemberDetails & { lenderId: string },
): Promise<TeamMember> {
  checkDetails(input);
  const lenderId = parseGid(context.gidNamespace, 'Lender', input.lenderId);
  return changeTeam(context, 'team_member.added', async (transaction) => {
    // The lock makes the count hold.
    const lender = lenderId === null ? null : await lockAccount(transaction, 'lender', lenderId);
    if (lender === null) throw new RefusedError('NOT_FOUND', `There is no lender ${input.lenderId}.`);
    if ((await countTeamMembers(transaction, lender.id)) >= teamMembersMax) {
      throw new RefusedError('LIMIT_REACHED', `A lender can have ${teamMembersMax} team members.`);
    }
    await checkEmail(transaction, lender, input.email, null);
    return { lender, row: await insertTeamMember(transaction, lender.id, input) };
  });
}

/**
 * Changes what is known of a person: what is not named stays. Reports `team_member.updated`, unless nothing differs.
 *
 * @throws RefusedError `INVALID`, `NOT_FOUND`, `CONFLICT`
 */
export async function updateTeamMember(
  context: ActionContext,
  input: { teamMemberId: string; firstName?: string; lastName?: string; email?: string },
): Promise<TeamMember> {
  return changeTeam(context, 'team_member.updated', async (transaction) => {
    const { lender, row } = await lockMember(context, transaction, input.teamMemberId);
    const details = {
      firstName: input.firstName ?? row.firstName,
      lastName: input.lastName ?? row.lastName,
      email: input.email ?? row.email,
    };
    checkDetails(details);
    if (details.firstName === row.firstName && details.lastName === row.lastName && details.email === row.email) {
      return { lender, row, isUnchanged: true };
    }
    await checkEmail(transaction, lender, details.email, row);
    return { lender, row: await updateTeamMemberRow(transaction, row.id, details) };
  });
}

/**
 * Removes a person from a lender. Reports `team_member.removed`.
 *
 * @returns the person as last known
 * @throws RefusedError `NOT_FOUND`
 */
export async function removeTeamMember(context: ActionContext, input: { teamMemberId: string }): Promise<TeamMember> {
  return changeTeam(context, 'team_member.removed', async (transaction) => {
    const member = await lockMember(context, transaction, input.teamMemberId);
    await deleteTeamMember(transaction, member.row.id);
    return member;
  });
}

interface MemberOfLender {
  lender: AccountRow;
  row: TeamMemberRow;
  isUnchanged?: boolean;
}

async function changeTeam(
  context: ActionContext,
  event: 'team_member.added' | 'team_member.removed' | 'team_member.updated',
  change: (transaction: Transaction) => Promise<MemberOfLender>,
): Promise<TeamMember> {
  const teamMember = await context.store.transaction(async (transaction) => {
    const { lender, row, isUnchanged } = await change(transaction);
    const changed = toTeamMember(context.gidNamespace, row);
    if (!isUnchanged) {
      await appendEvent(transaction, { id: lender.id, interfaceName: 'lender' }, event, {
        lender: { id: formatAccountGid(context.gidNamespace, 'lender', lender.id), name: lender.name },
        teamMember: changed,
      });
    }
    return changed;
  });
  return teamMember;
}

async function lockMember(context: ActionContext, transaction: Transaction, gid: string): Promise<MemberOfLender> {
  const id = parseGid(context.gidNamespace, 'TeamMember', gid);
  const row = id === null ? null : await lockTeamMember(transaction, id);
  const lender = row === null ? null : await lockAccount(transaction, 'lender', row.accountId);
  if (row === null || lender === null) throw new RefusedError('NOT_FOUND', `There is no team member ${gid}.`);
  return { lender, row };
}

function checkDetails(details: TeamMemberDetails): void {
  const problems = findTeamMemberProblems(details);
  if (problems.length > 0) throw new RefusedError('INVALID', problems.join(' '));
}

async function checkEmail(
  transaction: Transaction,
  lender: AccountRow,
  email: string,
  member: TeamMemberRow | null,
): Promise<void> {
  if (await isTeamMemberEmailTaken(transaction, lender.id, email, member?.id ?? null)) {
    throw new RefusedError('CONFLICT', `Another team member of ${lender.name} has the address ${email}.`);
  }
}
