import {
  type ActionContext,
  type Caller,
  type OperatorContext,
  type Page,
  type PageRequest,
  RefusedError,
  type RepeatDeletion,
} from '@deedwire/actions';
import { appendAuditEntry, appendEvent, findAccount, keysetPage, orderOfIds } from '@deedwire/actions/use-case';
import { addressKey, changedPaths, formatAccountGid, formatGid, parseAccountGid, parseGid } from '@deedwire/core';
import type { Transaction } from '@deedwire/store';
import { type AccountRow, lockAccount } from '@deedwire/store/accounts';
import { teamMemberAdded } from '../events/team_member.added/event.ts';
import { teamMemberRemoved } from '../events/team_member.removed/event.ts';
import { teamMemberUpdated } from '../events/team_member.updated/event.ts';
import type { LenderContext } from '../lender/lender-reader.ts';
import { selectLender } from '../lender/lender-statements.ts';
import {
  countTeamMembers,
  deleteTeamMember,
  insertTeamMember,
  type LenderMemberRow,
  lockTeamMember as lockTeamMemberRow,
  selectAddressesOfAccount,
  type TeamMemberRow,
  updateTeamMember as updateTeamMemberRow,
} from './team-member-statements.ts';
import { detailsOf, findTeamMemberProblems, type TeamMemberDetails, teamMembersMax } from './team-member.ts';

/** `TeamMember` of the lender interface. */
export interface TeamMember extends TeamMemberDetails {
  id: string;
}

function toTeamMember(gidNamespace: string, row: LenderMemberRow): TeamMember {
  return { id: formatGid(gidNamespace, 'TeamMember', row.id), ...detailsOf(row) };
}

/** All team members of the calling lender, oldest first. */
export async function listTeamMembers({ lenders, gidNamespace }: LenderContext, caller: Caller): Promise<TeamMember[]> {
  const rows = await lenders.readMembers(caller.accountId, { afterId: null, limit: teamMembersMax });
  return rows.map((row) => toTeamMember(gidNamespace, row));
}

/** A page of the team members of the calling lender, oldest first. */
export async function pageTeamMembers(
  context: LenderContext,
  caller: Caller,
  request: PageRequest,
): Promise<Page<TeamMember>> {
  return keysetPage(
    orderOfIds<'TeamMember'>('members'),
    request,
    ({ after, limit }) => context.lenders.readMembers(caller.accountId, { afterId: after, limit }),
    (row) => toTeamMember(context.gidNamespace, row),
  );
}

/**
 * A page of the team members of any lender, oldest first.
 *
 * @throws {RefusedError} `NOT_FOUND` if the lender does not exist
 */
export async function listMembersOfLender(
  context: ActionContext,
  request: PageRequest & { lenderId: string },
): Promise<Page<TeamMember>> {
  const { id: accountId } = await findAccount(context, 'lender', request.lenderId);
  return keysetPage(
    orderOfIds<'TeamMember'>('members'),
    request,
    async ({ after, limit }) =>
      (await selectLender(context.store, { accountId, afterId: after, limit }))?.members ?? [],
    (row) => toTeamMember(context.gidNamespace, row),
  );
}

/**
 * Adds a team member to a lender. Appends `team_member.added`.
 *
 * @throws {RefusedError} `INVALID` if a detail is invalid, `NOT_FOUND` if the lender does not exist, `CONFLICT` if another team
 * member has the address, `LIMIT_REACHED` if the lender has 250 team members
 */
export async function addTeamMember(
  context: OperatorContext,
  input: TeamMemberDetails & { lenderId: string },
): Promise<TeamMember> {
  checkTeamMemberDetails(input);
  const lenderId = parseAccountGid(context, 'lender', input.lenderId);
  return context.store.transaction(async (transaction) => {
    // The lock keeps the count and the address valid until the commit.
    const lender = lenderId === null ? null : await lockAccount(transaction, 'lender', lenderId);
    if (lender === null) throw new RefusedError('NOT_FOUND', `The lender ${input.lenderId} does not exist.`);
    const found = await countTeamMembers(transaction, lender.id);
    if (found >= teamMembersMax) {
      throw new RefusedError(
        'LIMIT_REACHED',
        `The lender has ${found} team members; at most ${teamMembersMax} are allowed.`,
      );
    }
    await checkTeamMemberEmail(transaction, lender, input.email, null);
    const row = await insertTeamMember(transaction, lender.id, input);
    return appendChange(context, transaction, { verb: 'add' }, lender, row);
  });
}

/**
 * Changes the details of a team member. An omitted detail keeps its value. Appends `team_member.updated`, unless no value
 * changes.
 *
 * @throws {RefusedError} `INVALID` if a detail is invalid, `NOT_FOUND` if the team member does not exist, `CONFLICT` if another
 * team member has the address
 */
export async function updateTeamMember(
  context: OperatorContext,
  { teamMemberId, ...input }: Partial<TeamMemberDetails> & { teamMemberId: string },
): Promise<TeamMember> {
  return context.store.transaction(async (transaction) => {
    const { lender, row } = await lockTeamMember(context, transaction, teamMemberId);
    const details = detailsOf({ ...row, ...input });
    checkTeamMemberDetails(details);
    const teamMember = toTeamMember(context.gidNamespace, row);
    const changed = changedPaths({ teamMember }, { teamMember: { ...teamMember, ...details } });
    if (changed.length === 0) return teamMember;
    await checkTeamMemberEmail(transaction, lender, details.email, row);
    const updatedRow = await updateTeamMemberRow(transaction, row.id, details);
    return appendChange(context, transaction, { verb: 'update', changed }, lender, updatedRow);
  });
}

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
    return appendChange(context, transaction, { verb: 'remove' }, lender, row);
  });
}

/** After a restore. Null if the team member does not exist. */
export const repeatRemoval: RepeatDeletion = async (context, gid) => {
  const id = parseGid(context.gidNamespace, 'TeamMember', gid);
  const isThere = id !== null && (await lockTeamMemberRow(context.store, id)) !== null;
  return isThere ? () => removeTeamMember(context, { teamMemberId: gid }) : null;
};

/**
 * Locks a team member and the lender.
 *
 * @throws {RefusedError} `NOT_FOUND` if the team member does not exist
 */
async function lockTeamMember(
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

/** @throws {RefusedError} `INVALID`, with every problem of the details */
function checkTeamMemberDetails(details: TeamMemberDetails): void {
  const problems = findTeamMemberProblems(details);
  if (problems.length > 0) throw new RefusedError('INVALID', problems.join(' '));
}

/**
 * The lender must be locked: otherwise two transactions can add the same address. Addresses that differ in their spelling only are the
 * same, whatever the locale of the database is. Those that earlier releases took for different ones stay.
 *
 * @param member the team member who may keep the address; null for a new one
 * @throws {RefusedError} `CONFLICT` if another team member of the lender has the address
 */
async function checkTeamMemberEmail(
  transaction: Transaction,
  lender: AccountRow,
  email: string,
  member: TeamMemberRow | null,
): Promise<void> {
  const key = addressKey(email);
  const isKept = member !== null && addressKey(member.email) === key;
  const others = (await selectAddressesOfAccount(transaction, lender.id)).filter(({ id }) => id !== member?.id);
  if (others.some((other) => (isKept ? other.email === email : addressKey(other.email) === key))) {
    throw new RefusedError('CONFLICT', `Another team member of ${lender.name} has the address ${email}.`);
  }
}

const events = { add: teamMemberAdded, remove: teamMemberRemoved };

type TeamMemberChange = { verb: keyof typeof events } | { verb: 'update'; changed: string[] };

/** Appends the event and the audit entry of a change, in its transaction, and returns the team member that they report. */
async function appendChange(
  context: OperatorContext,
  transaction: Transaction,
  change: TeamMemberChange,
  lender: AccountRow,
  row: LenderMemberRow,
): Promise<TeamMember> {
  const teamMember = toTeamMember(context.gidNamespace, row);
  const snapshot = {
    lender: { id: formatAccountGid(context, 'lender', lender.id), name: lender.name },
    teamMember,
  };
  if (change.verb === 'update')
    await appendEvent(context, transaction, lender, teamMemberUpdated, { ...snapshot, changed: change.changed });
  else await appendEvent(context, transaction, lender, events[change.verb], snapshot);
  const action = `member.${change.verb}`;
  await appendAuditEntry(transaction, context.operator, { action, subject: teamMember.id, account: lender });
  return teamMember;
}
