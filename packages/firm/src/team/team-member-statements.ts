import type { AccountId, RecordId } from '@deedwire/core';
import { firstRow, onlyRow, type Database, sql } from '@deedwire/store';
import type { TeamMemberDetails } from './team-member.ts';

export interface TeamMemberRow extends TeamMemberDetails {
  id: RecordId<'TeamMember'>;
  accountId: AccountId;
}

export type LenderMemberRow = Omit<TeamMemberRow, 'accountId'>;

/** One array per column: an array per team member costs twice the time, in PostgreSQL and here. Null if the page is empty. */
export interface MemberColumns {
  ids: RecordId<'TeamMember'>[] | null;
  firstNames: string[] | null;
  lastNames: string[] | null;
  emails: string[] | null;
}

/** `MemberColumns` of a page of team members. Served by team_member_by_account. */
export const selectMemberColumns = (accountId: string, afterId: string, limit: string): string => `
  select json_agg(id::text) as ids, json_agg(first_name) as "firstNames", json_agg(last_name) as "lastNames",
    json_agg(email) as emails
  from (
    select id, first_name, last_name, email
    from team_member
    where account_id = ${accountId} and id > coalesce(${afterId}, 0)
    order by id
    limit ${limit}
  ) page`;

export function toMembers({ ids, firstNames, lastNames, emails }: MemberColumns): LenderMemberRow[] {
  return (ids ?? []).map((id, index) => ({
    id,
    firstName: firstNames?.[index] ?? '',
    lastName: lastNames?.[index] ?? '',
    email: emails?.[index] ?? '',
  }));
}

const columns = `id, account_id as "accountId", first_name as "firstName", last_name as "lastName", email`;

/** Served by team_member_by_account. */
export async function countTeamMembers(database: Database, accountId: AccountId): Promise<number> {
  const statement = sql('count-team-members')`select count(*)::int as count from team_member where account_id = $1`;
  return onlyRow(await database.query<{ count: number }>(statement, [accountId])).count;
}

export type MemberAddress = Pick<TeamMemberRow, 'accountId' | 'id' | 'email'>;

/** Of all team members of the account. Served by team_member_by_account. */
export async function selectAddressesOfAccount(database: Database, accountId: AccountId): Promise<MemberAddress[]> {
  const statement = sql('select-addresses-of-account')`
      select id, account_id as "accountId", email from team_member where account_id = $1`;
  return database.query<MemberAddress & Record<string, unknown>>(statement, [accountId]);
}

/** Of the next `limit` team members, in the order of accounts. Served by team_member_by_account. */
export async function selectAddresses(
  database: Database,
  after: Pick<MemberAddress, 'accountId' | 'id'> | null,
  limit: number,
): Promise<MemberAddress[]> {
  const statement = sql('select-addresses', 'in-index-order')`
      select id, account_id as "accountId", email
      from team_member
      where (account_id, id) > ($1::bigint, $2::bigint)
      order by account_id, id
      limit $3`;
  const values = [after?.accountId ?? '0', after?.id ?? '0', limit];
  return database.query<MemberAddress & Record<string, unknown>>(statement, values);
}

/** The accounts of those that exist. Served by team_member_pkey. */
export async function selectAccountsOfMembers(
  database: Database,
  ids: readonly string[],
): Promise<Pick<TeamMemberRow, 'accountId' | 'id'>[]> {
  const statement = sql('select-accounts-of-members')`
      select id, account_id as "accountId" from team_member where id = any ($1::bigint[])`;
  return database.query<Pick<TeamMemberRow, 'accountId' | 'id'>>(statement, [ids]);
}

export async function insertTeamMember(
  database: Database,
  accountId: AccountId,
  details: TeamMemberDetails,
): Promise<TeamMemberRow> {
  const statement = sql('insert-team-member')`
      insert into team_member (account_id, first_name, last_name, email)
      values ($1, $2, $3, $4)
      returning ${columns}`;
  return onlyRow(
    await database.query<TeamMemberRow>(statement, [accountId, details.firstName, details.lastName, details.email]),
  );
}

/** Locks a team member until the transaction ends. Served by team_member_pkey. */
export async function lockTeamMember(database: Database, id: RecordId<'TeamMember'>): Promise<TeamMemberRow | null> {
  const statement = sql('lock-team-member')`select ${columns} from team_member where id = $1 for update`;
  return firstRow(await database.query<TeamMemberRow>(statement, [id]));
}

/** Served by team_member_pkey. */
export async function updateTeamMember(
  database: Database,
  id: RecordId<'TeamMember'>,
  details: TeamMemberDetails,
): Promise<TeamMemberRow> {
  const statement = sql('update-team-member')`
      update team_member
      set first_name = $2, last_name = $3, email = $4
      where id = $1
      returning ${columns}`;
  return onlyRow(
    await database.query<TeamMemberRow>(statement, [id, details.firstName, details.lastName, details.email]),
  );
}

/** Served by team_member_pkey. */
export async function deleteTeamMember(database: Database, id: RecordId<'TeamMember'>): Promise<void> {
  await database.query(sql('delete-team-member')`delete from team_member where id = $1`, [id]);
}
