import { readFile } from 'node:fs/promises';
import { type InterfaceRole, interfaceNamesOf, roleOf, type Service } from '@deedwire/core';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { type Database, onlyRow, sql } from '../statements/database.ts';

/** The role of an app, which migrations create and whose rights its logins have. */
export type GroupRole = InterfaceRole | 'webhook_worker' | 'operator';

/** The roles of the apps of a service. */
export function groupRolesOf(service: Service): GroupRole[] {
  return [...interfaceNamesOf(service).map(roleOf), 'webhook_worker', 'operator'];
}

/**
 * What the migrations of this build grant: `shared` to the role of every interface, and the rest to one role. A test compares the file
 * with a migrated database.
 */
const grantedFile = new URL('../../migrations/rights.json', import.meta.url);

interface Granted extends Readonly<Record<string, readonly string[]>> {
  shared: readonly string[];
}

async function readGranted(): Promise<Granted> {
  return JSON.parse(await readFile(grantedFile, 'utf8'));
}

/** The roles that the migrations of this build create. */
export async function migratedRoles(): Promise<GroupRole[]> {
  return Object.keys(await readGranted()).filter((key): key is GroupRole => key !== 'shared');
}

export const isRoleOfInterface = (role: GroupRole): role is InterfaceRole =>
  role !== 'webhook_worker' && role !== 'operator';

/** The object of a right, and what may be done with it. */
const partsOf = (right: string): string[] => right.split(' on ').toReversed();

/** In the order of `rightsOf`. */
function compareRights(one: string, other: string): number {
  const [object = '', privilege = ''] = partsOf(one);
  const [otherObject = '', otherPrivilege = ''] = partsOf(other);
  if (object !== otherObject) return object < otherObject ? -1 : 1;
  return privilege < otherPrivilege ? -1 : 1;
}

/**
 * The rights of a role, each in the words of GRANT, for example `select on account` or `update (last_used_at) on api_key`, in
 * order. Without those on partitions, which nothing uses. The schema is that of our tables, whatever the search path begins
 * with: by default, a schema with the name of the login comes first.
 */
export async function rightsOf(database: Database, role: GroupRole): Promise<string[]> {
  const statement = sql('rights-of-role')`
      with schema as (select relnamespace as id from pg_class where oid = to_regclass('schema_migration')), granted as (
        select lower(privilege_type collate "C") as privilege, case relkind when 'S' then 'sequence ' else '' end || relname as object
        from schema, pg_class, aclexplode(relacl)
        where relnamespace = schema.id and not relispartition and grantee = to_regrole($1)
        union all
        select lower(privilege_type collate "C") || ' (' || attname || ')', relname
        from schema, pg_class
        join pg_attribute on attrelid = pg_class.oid, aclexplode(attacl)
        where relnamespace = schema.id and not relispartition and grantee = to_regrole($1)
        union all
        select lower(privilege_type collate "C"), 'routine ' || proname || '(' || pg_get_function_identity_arguments(pg_proc.oid) || ')'
        from schema, pg_proc, aclexplode(proacl)
        where pronamespace = schema.id and grantee = to_regrole($1)
      )
      select privilege || ' on ' || object as "right" from granted order by object collate "C", privilege collate "C"`;
  return (await database.query<{ right: string }>(statement, [role])).map(({ right }) => right);
}

export interface MissingRight {
  role: GroupRole;
  /** In the words of GRANT, for example `select on account`. */
  right: string;
}

/**
 * The tables, views and sequences of the schema, as `rightsOf` writes them. Without the tables that own_table() has registered for interfaces
 * with other roles than these: one can have the name of a table of the sample.
 */
async function selectRelations(database: Database, interfaceRoles: readonly string[]): Promise<Set<string>> {
  const statement = sql('relations')`
      select case relkind when 'S' then 'sequence ' else '' end || relname as object
      from pg_class c
      where relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migration')) and not relispartition
        and (
          -- The second argument is the name of such a table.
          not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'check_home' and t.tgnargs = 2)
          or exists (select from pg_policy p where p.polrelid = c.oid and p.polname = any ($1::text[]))
        )`;
  return new Set((await database.query<{ object: string }>(statement, [interfaceRoles])).map(({ object }) => object));
}

/**
 * The rights that the migrations of this build grant to roles and that these do not have, in the order of the roles. Those on the tables and
 * sequences of the sample do not count if the database has none.
 */
export async function missingRights(database: Database, roles: readonly GroupRole[]): Promise<MissingRight[]> {
  const granted = await readGranted();
  const relations = await selectRelations(database, (await migratedRoles()).filter(isRoleOfInterface));
  const exists = ([object = '']: string[]): boolean => object.startsWith('routine ') || relations.has(object);
  const missing: MissingRight[] = [];
  for (const role of roles) {
    const own = new Set(await rightsOf(database, role));
    const needed = [...(isRoleOfInterface(role) ? granted.shared : []), ...(granted[role] ?? [])];
    for (const right of needed.toSorted(compareRights))
      if (!own.has(right) && exists(partsOf(right))) missing.push({ role, right });
  }
  return missing;
}

/** The statement that creates a login of an app. */
export function createLoginSql(name: string, password: string, role: GroupRole): string {
  return `create role ${escapeIdentifier(name)} login password ${escapeLiteral(password)} in role ${role};`;
}

export async function selectDatabaseName(database: Database): Promise<string> {
  const statement = sql('database-name')`select current_database() as name`;
  return onlyRow(await database.query<{ name: string }>(statement, [])).name;
}
