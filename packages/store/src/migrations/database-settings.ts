import { operatorCommand } from '@deedwire/core';
import { formatSettings, resultSettings } from '../connections/session-settings.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';
import { describeSchemas, isOfTrustedOwner, type Place, placesWithTables, visiblePlace } from './find-place.ts';
import type { GroupRole } from './group-roles.ts';

/** A setting, its value and where it comes from: `database`, `user`, `client` and others that `pg_settings` names. */
type Setting = [value: string, source: string];

interface Found {
  /** The names of the database, of the login and of the role whose rights it has, as SQL takes them. */
  database: string;
  login: string;
  role: string;
  encoding: string;
  isStandby: boolean;
  searchPath: string;
  /** Where migrations create tables, if it exists. */
  schema: string | null;
  /** Its owner, as SQL takes it, and whether the role can trust it. */
  schemaOwner: string | null;
  isOfSchemaOwner: boolean;
  /** Whether the role may create a schema. */
  mayCreateSchema: boolean;
  /** What migrations need there. They let the worker create tables in a new database, for a moment. */
  schemaRight: string;
  hasSchemaRight: boolean;
  /** The group roles that pending migrations would create. Only found for them. Later migrations need none. */
  missingRoles: string[];
  mayCreateRoles: boolean;
  /** The databases of the cluster in which the worker has rights, as SQL takes them. */
  databasesOfWorker: string[];
  /** The first migrations were applied, or can be: the earliest one grants this role to the login. */
  mayGrantWorker: boolean;
  /** Where the tables are, if the search path finds them. */
  visibleIn: string | null;
  /** All schemas with our tables. */
  schemas: string[];
  /** The former and the present name of the schema, as SQL takes them. Null if it was not renamed. */
  renamed: [from: string, to: string] | null;
  settings: Record<string, Setting>;
}

interface Accepted {
  /** What to set. */
  value: string | number;
  /** Omitted: the value only. */
  accepts?: RegExp;
}

/** Apps cannot set the last two: the first one is for superusers, and an operator has chosen the second one. */
const readOnly = 'default_transaction_read_only';
const accepted: Readonly<Record<string, Accepted>> = {
  DateStyle: { value: formatSettings.DateStyle, accepts: /^ISO\b/ },
  standard_conforming_strings: { value: formatSettings.standard_conforming_strings },
  array_nulls: { value: resultSettings.array_nulls },
  default_transaction_isolation: { value: resultSettings.default_transaction_isolation },
  extra_float_digits: { value: resultSettings.extra_float_digits, accepts: /^\d/ },
  quote_all_identifiers: { value: resultSettings.quote_all_identifiers },
  row_security: { value: resultSettings.row_security },
  session_replication_role: { value: 'origin', accepts: /^(?:origin|local)$/ },
  [readOnly]: { value: 'off' },
};

/** Of migrations. */
export interface MigrationPurpose {
  /** Where they create tables. The schema may not exist. The search path of the session begins with it. */
  place: Place;
  /** The apps whose roles they create. */
  roles: readonly GroupRole[];
  /** They begin with a baseline, which needs no roles. */
  isBaseline: boolean;
}

/** Who asks, and what it needs of the schema. */
export type Purpose =
  /** Creates tables. */
  | MigrationPurpose
  /** Changes rows. */
  | 'write'
  /** Also works on a database that is read-only. */
  | 'read';

/**
 * What keeps this code from working with a database whatever is in its tables, one sentence each, without the period: the encoding, a
 * database that is read-only, the search path and settings that results depend on. Each names the setting, its value and the remedy.
 */
export async function findSettingProblems(database: Database, purpose: Purpose): Promise<string[]> {
  const { place, roles, isBaseline } =
    typeof purpose === 'object' ? purpose : { place: null, roles: [], isBaseline: false };
  const prefix = place?.rolePrefix ?? '';
  const found = onlyRow(
    await database.query<Found & Record<string, unknown>>(settingsStatement, [
      Object.keys(accepted),
      roles.map((role) => prefix + role),
      prefix,
      place?.schema ?? null,
      isBaseline,
    ]),
  );
  // The schema `public` was the only one that databases of before could have.
  const isShared = (place?.schema ?? found.visibleIn ?? 'public') !== 'public';
  return [
    ...encodingProblems(found),
    ...(found.isStandby && purpose !== 'read'
      ? ['the server is a standby, which is read-only; connect to the primary']
      : []),
    ...Object.entries(found.settings)
      .filter(([name]) => name !== readOnly || (purpose !== 'read' && !found.isStandby))
      .flatMap(([name, setting]) => settingProblems(name, setting, found, isShared)),
    ...renameProblems(found),
    ...(place === null
      ? viewProblems(found)
      : isOfOther(found, place)
        ? placeProblems(found, place)
        : [...placeProblems(found, place), ...roleProblems(found, place, isBaseline)]),
  ];
}

const settingsStatement = sql('find-settings')`
    with ${placesWithTables}
    select quote_ident(current_database()) as database, quote_ident(session_user) as login,
      quote_ident(current_user) as role, current_setting('server_encoding') as encoding, pg_is_in_recovery() as "isStandby",
      current_setting('search_path') as "searchPath", n.nspname::text as schema,
      n.nspowner::regrole::text as "schemaOwner", coalesce(${isOfTrustedOwner}, false) as "isOfSchemaOwner",
      has_database_privilege(current_database(), 'create') as "mayCreateSchema",
      expected.right as "schemaRight", coalesce(has_schema_privilege(n.oid, expected.right), false) as "hasSchemaRight",
      array(
        -- Migration 0102 has created the table.
        select name from unnest($2::text[]) name
        where to_regrole(name) is null and not $5 and to_regclass('app_migration') is null
      ) as "missingRoles",
      own.rolsuper or own.rolcreaterole as "mayCreateRoles",
      own.rolsuper or expected.worker is null
        or own.rolcreaterole and current_setting('server_version_num')::int < 160000
        or pg_has_role(expected.worker, 'member with admin option') as "mayGrantWorker",
      array(
        select distinct quote_ident(d.datname)
        from pg_shdepend s join pg_database d on d.oid = s.dbid
        -- Another process may be creating the tables.
        where d.datname <> current_database() and s.refclassid = 'pg_authid'::regclass and s.refobjid = expected.worker and not d.datistemplate
        order by 1
      ) as "databasesOfWorker",
      ${visiblePlace} as "visibleIn",
      array(select name::text from place order by name) as schemas,
      (
        -- The search path of a function that names nothing else.
        select array[substring(setting from '^search_path=(.*), pg_temp$'), quote_ident(s.nspname)]
        from pg_class c
        join pg_namespace s on s.oid = c.relnamespace
        join pg_proc p on p.pronamespace = s.oid and p.proname = 'grant_shared_rights', unnest(p.proconfig) setting
        where c.oid = to_regclass('schema_migration') and starts_with(setting, 'search_path=')
          and setting <> 'search_path=' || quote_ident(s.nspname) || ', pg_temp'
      ) as renamed,
      (
        select json_object_agg(name, json_build_array(setting, source)) from pg_settings where name = any($1)
      ) as settings
    from (
      select case when is_begun or $5 then 'create' else 'create with grant option' end as right,
        case when not is_begun then to_regrole($3 || 'webhook_worker') end as worker
      from (select to_regclass('webhook_subscription') is not null as is_begun) state
    ) expected
    join pg_roles own on own.rolname = current_user
    left join pg_namespace n on n.nspname = $4`;

/** SQL_ASCII counts bytes instead of characters, so only databases that have it already may keep it. */
function encodingProblems({ encoding, schemas }: Found): string[] {
  if (encoding === 'UTF8' || (encoding === 'SQL_ASCII' && schemas.length > 0)) return [];
  return [
    `the encoding of the database is ${encoding}, but must be UTF8; create another one: create database … encoding 'UTF8' template template0`,
  ];
}

/** In place of the login of an application. It finds the tables, and may use their schema. */
export const ownLogin = (): string => `its own login, which \`${operatorCommand()} database logins\` prints`;

/** In a database that may be an application's, whose statements may need the setting, no remedy changes the database or this login. */
function settingProblems(
  name: string,
  [value, source]: Setting,
  { database, login }: Found,
  isShared: boolean,
): string[] {
  const wanted = accepted[name];
  if (wanted === undefined || (wanted.accepts?.test(value) ?? value === String(wanted.value))) return [];
  const problem = `the setting ${name} is "${value}", but must be "${wanted.value}"`;
  if (isShared && source !== 'client')
    return [`${problem}; let this app have ${ownLogin()}, and set it for that login alone`];
  const ofSplit = name === readOnly ? 'on the new side of a split, run `cell split activate`; elsewhere, ' : '';
  const places: Readonly<Record<string, string>> = {
    database: `for the database; ${ofSplit}run: alter database ${database} reset ${name}`,
    user: `for the login; run: alter role ${login} reset ${name}`,
    'database user': `for the login in this database; run: alter role ${login} in database ${database} reset ${name}`,
    client: 'by PGOPTIONS or by `options` of the URL; remove it there',
  };
  const place =
    places[source] ?? `for the server; ${ofSplit}run: alter database ${database} set ${name} = '${wanted.value}'`;
  return [`${problem}; it is set ${place}`];
}

/** Whether another login has created the tables. What that one has done is not visible to this one. */
function isOfOther({ schemas, hasSchemaRight }: Found, { schema }: Place): boolean {
  return schema !== 'public' && schemas.includes(schema) && !hasSchemaRight;
}

/** Where tables would be created. */
function placeProblems(found: Found, place: Place): string[] {
  const { role, schema, schemaOwner, isOfSchemaOwner, mayCreateSchema, schemaRight, hasSchemaRight, schemas } = found;
  if (/^pg_|^information_schema$/.test(place.schema))
    return [`tables would be created in the schema ${place.schema}, which belongs to PostgreSQL; set DATABASE_SCHEMA`];
  if (schema === null)
    return mayCreateSchema
      ? []
      : [
          `there is no schema ${place.schema} that this login may use, and it may not create schemas; as the owner of the database, create the schema ` +
            'with `authorization` and the name of this login',
        ];
  // The owner of a schema can replace what is in it. Everybody knows who that of `public` is.
  if (schema !== 'public' && !schemas.includes(schema) && !isOfSchemaOwner)
    return [`the schema ${schema} belongs to ${schemaOwner}, which could replace the tables in it; choose another one`];
  if (hasSchemaRight) return [];
  const [right, withOption = ''] = schemaRight.split(/(?= with)/);
  const remedy =
    schema === 'public'
      ? `run as its owner: grant ${right} on schema ${schema} to ${role}${withOption}`
      : schemas.includes(schema)
        ? `the tables are there: migrate with the login of their owner, ${schemaOwner}`
        : 'let its owner grant it to this login';
  return [`the login lacks the right to ${schemaRight} in the schema ${schema}; ${remedy}`];
}

/** Group roles belong to the cluster. Another installation may have created them, whose logins would have all rights in this database. */
function roleProblems(
  { role, missingRoles, mayCreateRoles, databasesOfWorker, mayGrantWorker }: Found,
  { rolePrefix }: Place,
  isBaseline: boolean,
): string[] {
  if (missingRoles.length > 0 && !mayCreateRoles)
    return [
      `the login may not create the roles ${missingRoles.join(', ')}; run as a superuser: alter role ${role} createrole`,
    ];
  const worker = `${rolePrefix}webhook_worker`;
  const users = databasesOfWorker.length === 0 ? '' : `, where it belongs to ${databasesOfWorker.join(', ')}`;
  // A prefix promises that logins of other databases have no right in this one.
  if (rolePrefix !== '' && databasesOfWorker.length > 0)
    return [`the cluster has the role ${worker} already${users}; choose other names with --role-prefix`];
  if (mayGrantWorker) return [];
  const orPrefix = isBaseline ? 'choose other names with --role-prefix, or ' : '';
  return [
    `the cluster has the role ${worker} already${users}, and ${role} may not grant it; ${orPrefix}run as a superuser, or as the login that created it: ` +
      `grant ${worker} to ${role} with admin option`,
  ];
}

function renameProblems({ renamed }: Found): string[] {
  if (renamed === null) return [];
  const [from, to] = renamed;
  return [
    `the schema ${from} was renamed to ${to}, and functions contain its name; run as its owner: alter schema ${to} rename to ${from}`,
  ];
}

/** Whether the tables are found. Before the first migration, there are none. */
function viewProblems({ searchPath, visibleIn, schemas }: Found): string[] {
  if (schemas.length === 0 || visibleIn !== null) return [];
  const { place, remedy } = describeSchemas(schemas);
  const [schema = ''] = schemas;
  if (schemas.length === 1 && searchPath.split(', ').includes(`"${schema}"`))
    return [
      `the tables are in ${place}, which this login may not use; let this app have ${ownLogin()}, or the login of their owner`,
    ];
  return [
    `the tables are in ${place}, but search_path is ${searchPath}, which does not contain a schema with them that the login may use; ` +
      `for a direct connection ${remedy}, and behind a transaction pooler let this app have ${ownLogin()}`,
  ];
}
