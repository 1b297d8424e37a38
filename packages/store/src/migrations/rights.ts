import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Service } from '@deedwire/core';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { searchPathOf } from '../connections/search-path.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';
import type { Place } from './find-place.ts';
import { type GroupRole, isRoleOfInterface, rolePrefix } from './group-roles.ts';
import { migrationsOfPlatform } from './read-migrations.ts';

/** What migrations grant: `shared` to the role of every interface, and the rest to one role. Tests compare the files with migrated databases. */
type Granted = Readonly<Partial<Record<GroupRole | 'shared', readonly string[]>>>;

/** Of the migrations in a folder. */
async function readGranted(folder: URL): Promise<Granted> {
  return JSON.parse(await readFile(join(fileURLToPath(folder), 'rights.json'), 'utf8'));
}

/** The file is optional: without it, nothing is compared. */
async function readGrantedByApplication(folder: URL): Promise<Granted> {
  return readGranted(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  });
}

/**
 * The rights that the migrations of this build grant to a role, and those of the application, in the order of `rightsOf`.
 *
 * @param ofApplication the folder of its migrations, or null
 */
export async function grantedRights(role: GroupRole, ofApplication: Service['migrations']): Promise<string[]> {
  const files = [
    await readGranted(migrationsOfPlatform),
    ...(ofApplication === null ? [] : [await readGrantedByApplication(ofApplication)]),
  ];
  return files
    .flatMap((granted) => [...(isRoleOfInterface(role) ? (granted.shared ?? []) : []), ...(granted[role] ?? [])])
    .toSorted(compareRights);
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
        select lower(privilege_type collate "C") as privilege, case relkind when 'S' then 'sequence ' else '' end || quote_ident(relname) as object
        from schema, pg_class, aclexplode(relacl)
        where relnamespace = schema.id and not relispartition and grantee = to_regrole($1)
        union all
        select lower(privilege_type collate "C") || ' (' || quote_ident(attname) || ')', quote_ident(relname)
        from schema, pg_class
        join pg_attribute on attrelid = pg_class.oid, aclexplode(attacl)
        where relnamespace = schema.id and not relispartition and grantee = to_regrole($1)
        union all
        select lower(privilege_type collate "C"), format('routine %I(%s)', proname, pg_get_function_identity_arguments(pg_proc.oid))
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
  /** Grants it in a session with any search path. */
  sql: string;
}

/** @param schema of the tables */
export function missingRight(role: string, right: string, schema: string): MissingRight {
  const [object = '', privilege = ''] = partsOf(right);
  const kind = /^(?:sequence|routine) /.exec(object)?.[0] ?? '';
  const name = `${escapeIdentifier(schema)}.${object.slice(kind.length)}`;
  return { role, right, sql: `grant ${privilege} on ${kind}${name} to ${role}` };
}

/** The tables, views and sequences of the schema, as `rightsOf` writes them. */
async function selectRelations(database: Database): Promise<Set<string>> {
  const statement = sql('relations')`
      select case relkind when 'S' then 'sequence ' else '' end || quote_ident(relname) as object
      from pg_class
      where relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migration')) and not relispartition`;
  return new Set((await database.query<{ object: string }>(statement, [])).map(({ object }) => object));
}

/** The rights of `grantedRights` that roles do not have, in the order of the roles. Those on tables and sequences that were dropped do not count. */
export async function missingRights(
  database: Database,
  { schema, rolePrefix: prefix }: Place,
  roles: readonly GroupRole[],
  ofApplication: Service['migrations'],
): Promise<MissingRight[]> {
  const relations = await selectRelations(database);
  const exists = ([object = '']: string[]): boolean => object.startsWith('routine ') || relations.has(object);
  const missing: MissingRight[] = [];
  for (const kind of roles) {
    const role = prefix + kind;
    const own = new Set(await rightsOf(database, role));
    for (const right of await grantedRights(kind, ofApplication))
      if (!own.has(right) && exists(partsOf(right))) missing.push(missingRight(role, right, schema));
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
