import type { AccountId } from '@deedwire/core';
import { type Database, type PageQuery, sql } from '@deedwire/store';
import {
  type LenderMemberRow,
  type MemberColumns,
  selectMemberColumns,
  toMembers,
} from '../team/team-member-statements.ts';

/** A lender, and a page of its team members, oldest first. A limit of 0 reads no team members. */
export interface LenderQuery extends PageQuery<'TeamMember'> {
  accountId: AccountId;
}

export interface LenderRow {
  name: string;
  members: LenderMemberRow[];
}

interface Columns extends MemberColumns {
  name: string;
}

/** Reads the name of one lender. Null if it does not exist. Served by account_pkey. */
export async function selectLenderName(database: Database, accountId: AccountId): Promise<string | null> {
  const statement = sql('select-lender-name')`select name from account where id = $1 and interface = 'lender'`;
  const [row] = await database.query<{ name: string }>(statement, [accountId]);
  return row?.name ?? null;
}

/** Reads one lender. Null if it does not exist. Served by account_pkey and team_member_by_account. */
export async function selectLender(
  database: Database,
  { accountId, afterId, limit }: LenderQuery,
): Promise<LenderRow | null> {
  const statement = sql('select-lender')`
      select a.name, m.*
      from account a
      cross join lateral (${selectMemberColumns('$1', '$2::bigint', '$3')}) m
      where a.id = $1 and a.interface = 'lender'`;
  const [columns] = await database.query<Columns>(statement, [accountId, afterId, limit]);
  return columns === undefined ? null : { name: columns.name, members: toMembers(columns) };
}

/**
 * Reads several lenders in one statement. Served by account_pkey and team_member_by_account.
 *
 * PostgreSQL would plan a statement with arrays at every execution, because it expects less of short arrays than of arrays in
 * general. It expects 100 rows of `json_to_recordset`, whatever it contains, and keeps the plan.
 *
 * @returns one result per query, in their order. Null if the lender does not exist.
 */
export async function selectLenders(
  database: Database,
  queries: readonly LenderQuery[],
): Promise<(LenderRow | null)[]> {
  const statement = sql('select-lenders')`
      select q.number, a.name, m.*
      from json_to_recordset($1) as q(number int, "accountId" bigint, "afterId" bigint, "limit" int)
      join account a on a.id = q."accountId" and a.interface = 'lender'
      cross join lateral (${selectMemberColumns('q."accountId"', 'q."afterId"', 'q."limit"')}) m`;
  const numbered = queries.map((query, number) => ({ ...query, number }));
  const found = await database.query<Columns & { number: number }>(statement, [JSON.stringify(numbered)]);
  const rows = queries.map((): LenderRow | null => null);
  for (const columns of found) rows[columns.number] = { name: columns.name, members: toMembers(columns) };
  return rows;
}
