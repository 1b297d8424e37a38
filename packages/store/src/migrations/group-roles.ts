import { type InterfaceRole, interfaceNamesOf, roleOf, type Service } from '@deedwire/core';
import { type Database, onlyRow, sql } from '../statements/database.ts';

/** The role of an app, whose rights its logins have. In a database with a prefix of roles, its name begins with the prefix. */
export type GroupRole = InterfaceRole | 'webhook_worker' | 'operator';

/** The roles of the apps of a service. Those of the platform alone if it is null. */
export function groupRolesOf(service: Service | null): GroupRole[] {
  return [...(service === null ? [] : interfaceNamesOf(service).map(roleOf)), 'webhook_worker', 'operator'];
}

export const isRoleOfInterface = (role: GroupRole): role is InterfaceRole =>
  role !== 'webhook_worker' && role !== 'operator';

/**
 * A scalar of SQL: the prefix of the names of the group roles in this database. The literal of role_prefix(), which a login of no group role may
 * not call, and that of no other schema than that of our tables. Empty in a database that lacks the function.
 */
export const rolePrefix = `coalesce((
        select substring(pg_get_function_sqlbody(p.oid) from $$'([a-z0-9_]*)'$$)
        from pg_proc p
        join pg_class c on c.relnamespace = p.pronamespace and c.oid = to_regclass('schema_migration')
        where p.proname = 'role_prefix' and p.pronargs = 0
      ), '')`;

/** What the names of the group roles begin with in this database. Empty in an older one. */
export async function selectRolePrefix(database: Database): Promise<string> {
  const statement = sql('role-prefix')`select ${rolePrefix} as prefix`;
  return onlyRow(await database.query<{ prefix: string }>(statement, [])).prefix;
}

/** The names of the roles of the apps of a service in this database. */
export async function selectGroupRoles(database: Database, service: Service): Promise<string[]> {
  const prefix = await selectRolePrefix(database);
  return groupRolesOf(service).map((role) => prefix + role);
}
