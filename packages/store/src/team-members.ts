import type { AccountId, RecordId, TeamMemberDetails } from '@deedwire/domain';
import { firstRow, onlyRow, type Database, sql } from './database.ts';

export interface TeamMemberRow {
  id: RecordId<'TeamMember'>;
  accountId: AccountId;
  firstName: string;
  lastName: string;
  email: string;
}

const columns = `id, account_id as "accountId", first_name as "firstName", last_name as "lastName", email`;

/** Served by team_member_by_account. */
export async function countTeamMembers(database: Database, accountId: AccountId): Promise<number> {
  const statement = sql('count-team-members')`select count(*)::int as count from team_member where account_id = $1`;
  return onlyRow(await database.query<{ count: number }>(statement, [accountId])).count;
}

/**
 * Whether another team member of the account has this address. Ignores case. Served by team_member_email.
 *
 * @param exceptId the team member who may have the address
 */
export async function isTeamMemberEmailTaken(
  database: Database,
  accountId: AccountId,
  email: string,
  exceptId: RecordId<'TeamMember'> | null,
): Promise<boolean> {
  const statement = sql('is-team-member-email-taken')`
      select id
      from team_member
      where account_id = $1 and lower(email) = lower($2) and id is distinct from $3::bigint`;
  return (await database.query(statement, [accountId, email, exceptId])).length > 0;
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
