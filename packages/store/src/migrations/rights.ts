import { readFile } from 'node:fs/promises';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { searchPathOf } from '../connections/search-path.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';
import type { Place } from './find-place.ts';
import { type GroupRole, isRoleOfInterface, rolePrefix } from './group-roles.ts';

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
 *
 * @param role its name in this database
 */
export async function rightsOf(database: Database, role: string): Promise<string[]> {
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
  /** Its name in the database. */
  role: string;
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
 *
 * @param prefix of the names of the group roles in this database
 */
export async function missingRights(
  database: Database,
  roles: readonly GroupRole[],
  prefix: string,
): Promise<MissingRight[]> {
  const granted = await readGranted();
  const interfaceRoles = (await migratedRoles()).filter(isRoleOfInterface).map((role) => prefix + role);
  const relations = await selectRelations(database, interfaceRoles);
  const exists = ([object = '']: string[]): boolean => object.startsWith('routine ') || relations.has(object);
  const missing: MissingRight[] = [];
  for (const kind of roles) {
    const role = prefix + kind;
    const own = new Set(await rightsOf(database, role));
    const needed = [...(isRoleOfInterface(kind) ? granted.shared : []), ...(granted[kind] ?? [])];
    for (const right of needed.toSorted(compareRights))
      if (!own.has(right) && exists(partsOf(right))) missing.push({ role, right });
  }
  return missing;
}

/** What the logins of the apps of a database depend on. */
export interface LoginPlace extends Place {
  /** The name of the database. */
  database: string;
}

export async function selectLoginPlace(database: Database): Promise<LoginPlace> {
  const statement = sql('login-place')`
    select current_database() as database, ${rolePrefix} as "rolePrefix", coalesce(
      (select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass('schema_migration')), 'public'
    )::text as schema`;
  return onlyRow(await database.query<LoginPlace & Record<string, unknown>>(statement, []));
}

/**
 * The statements that create a login of an app. It finds the tables itself, even behind a transaction pooler, which keeps no setting of a session.
 *
 * @param role its name in the database
 */
export function createLoginSql(
  name: string,
  password: string,
  role: string,
  { schema, rolePrefix: prefix }: LoginPlace,
): string {
  const login = escapeIdentifier(name);
  const create = `create role ${login} login password ${escapeLiteral(password)} in role ${role};`;
  // By default, a schema with the name of the login comes first.
  const find = `alter role ${login} set search_path = ${searchPathOf(schema)};`;
  // A role without prefix has logins of other databases of the cluster, too.
  const use =
    prefix === '' && schema !== 'public' ? [`grant usage on schema ${escapeIdentifier(schema)} to ${login};`] : [];
  return [create, find, ...use].join('\n');
}
