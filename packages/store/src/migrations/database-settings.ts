import { formatSettings, resultSettings } from '../connections/session-settings.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';
import { migratedRoles } from './rights.ts';

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
  /** Where new tables are created. Null if no schema of the search path exists. */
  schema: string | null;
  /** What migrations need there. They let the worker create tables in a new database, for a moment. */
  schemaRight: string;
  hasSchemaRight: boolean;
  /** The group roles that migrations would create. Only found for them. */
  missingRoles: string[];
  mayCreateRoles: boolean;
  /** The migrations that grant this role to the login were applied, or can be. */
  mayGrantWorker: boolean;
  /** Where the tables are, if the search path finds them. */
  visibleIn: string | null;
  /** All schemas with our tables. */
  schemas: string[];
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

/** Who asks, and what it needs of the schema. */
export type Purpose =
  /** Creates tables. */
  | 'migrate'
  /** Changes rows. */
  | 'write'
  /** Also works on a database that is read-only. */
  | 'read';

/**
 * What keeps this code from working with a database whatever is in its tables, one sentence each, without the period: the encoding, a
 * database that is read-only, the search path and settings that results depend on. Each names the setting, its value and the remedy.
 */
export async function findSettingProblems(database: Database, purpose: Purpose): Promise<string[]> {
  const roles = purpose === 'migrate' ? await migratedRoles() : [];
  const found = onlyRow(
    await database.query<Found & Record<string, unknown>>(settingsStatement, [Object.keys(accepted), roles]),
  );
  return [
    ...encodingProblems(found),
    ...(found.isStandby && purpose !== 'read'
      ? ['the server is a standby, which is read-only; connect to the primary']
      : []),
    ...Object.entries(found.settings)
      .filter(([name]) => name !== readOnly || (purpose !== 'read' && !found.isStandby))
      .flatMap(([name, setting]) => settingProblems(name, setting, found)),
    ...(purpose === 'migrate' ? [...placeProblems(found), ...roleProblems(found)] : viewProblems(found)),
  ];
}

const settingsStatement = sql('find-settings')`
    with place as (
      select n.oid, n.nspname as name
      from pg_namespace n
      where (
        select count(*) from pg_class where relnamespace = n.oid and relname in ('schema_migration', 'installation')
      ) = 2
    )
    select quote_ident(current_database()) as database, quote_ident(session_user) as login,
      quote_ident(current_user) as role, current_setting('server_encoding') as encoding, pg_is_in_recovery() as "isStandby",
      current_setting('search_path') as "searchPath", current_schema()::text as schema,
      expected.right as "schemaRight", coalesce(has_schema_privilege(current_schema(), expected.right), false) as "hasSchemaRight",
      array(select name from unnest($2::text[]) name where to_regrole(name) is null) as "missingRoles",
      own.rolsuper or own.rolcreaterole as "mayCreateRoles",
      own.rolsuper or expected.worker is null
        or own.rolcreaterole and current_setting('server_version_num')::int < 160000
        or pg_has_role(expected.worker, 'member with admin option') as "mayGrantWorker",
      (
        select name::text from place
        where oid = (select relnamespace from pg_class where pg_class.oid = to_regclass('schema_migration'))
      ) as "visibleIn",
      array(select name::text from place order by name) as schemas,
      (
        select json_object_agg(name, json_build_array(setting, source)) from pg_settings where name = any($1)
      ) as settings
    from (
      select case when is_begun then 'create' else 'create with grant option' end as right,
        case when not is_begun then to_regrole('webhook_worker') end as worker
      from (select to_regclass('webhook_subscription') is not null as is_begun) state
    ) expected
    join pg_roles own on own.rolname = current_user`;

/** SQL_ASCII counts bytes instead of characters, so only databases that have it already may keep it. */
function encodingProblems({ encoding, schemas }: Found): string[] {
  if (encoding === 'UTF8' || (encoding === 'SQL_ASCII' && schemas.length > 0)) return [];
  return [
    `the encoding of the database is ${encoding}, but must be UTF8; create another one: create database … encoding 'UTF8' template template0`,
  ];
}

function settingProblems(name: string, [value, source]: Setting, { database, login }: Found): string[] {
  const wanted = accepted[name];
  if (wanted === undefined || (wanted.accepts?.test(value) ?? value === String(wanted.value))) return [];
  const ofSplit = name === readOnly ? 'on the new side of a split, run `cell split activate`; elsewhere, ' : '';
  const places: Readonly<Record<string, string>> = {
    database: `for the database; ${ofSplit}run: alter database ${database} reset ${name}`,
    user: `for the login; run: alter role ${login} reset ${name}`,
    'database user': `for the login in this database; run: alter role ${login} in database ${database} reset ${name}`,
    client: 'by PGOPTIONS or by `options` of the URL; remove it there',
  };
  const place =
    places[source] ?? `for the server; ${ofSplit}run: alter database ${database} set ${name} = '${wanted.value}'`;
  return [`the setting ${name} is "${value}", but must be "${wanted.value}"; it is set ${place}`];
}

/** Where tables would be created. */
function placeProblems(found: Found): string[] {
  const { database, login, role, searchPath, schema, schemaRight, hasSchemaRight, schemas } = found;
  const remedy = (target: string) => `run: alter role ${login} in database ${database} set search_path = ${target}`;
  const [existing] = schemas;
  if (existing !== undefined && (schema === null || !schemas.includes(schema)))
    return [
      `the tables are in the schema ${existing}, but search_path is ${searchPath}, which does not begin with it; ${remedy(existing)}`,
    ];
  if (schema === null)
    return [
      `search_path is ${searchPath}, which names no schema that exists and that the login may use; ${remedy('public')}`,
    ];
  if (/^pg_|^information_schema$/.test(schema))
    return [`search_path is ${searchPath}, so that tables would be created in ${schema}; ${remedy('public')}`];
  if (hasSchemaRight) return [];
  const [right, withOption = ''] = schemaRight.split(/(?= with)/);
  return [
    `the login lacks the right to ${schemaRight} in the schema ${schema}; run as its owner: grant ${right} on schema ${schema} to ${role}${withOption}`,
  ];
}

/** Group roles belong to the cluster. Another installation may have created them. */
function roleProblems({ role, missingRoles, mayCreateRoles, mayGrantWorker }: Found): string[] {
  if (missingRoles.length > 0 && !mayCreateRoles)
    return [
      `the login may not create the roles ${missingRoles.join(', ')}; run as a superuser: alter role ${role} createrole`,
    ];
  return mayGrantWorker
    ? []
    : [
        `another login has created the role webhook_worker, which ${role} may not grant; run as a superuser, or as that login: ` +
          `grant webhook_worker to ${role} with admin option`,
      ];
}

/** Whether the tables are found. Before the first migration, there are none. */
function viewProblems({ database, login, role, searchPath, visibleIn, schemas }: Found): string[] {
  const [existing] = schemas;
  if (existing === undefined || visibleIn !== null) return [];
  return [
    `the tables are in the schema ${existing}, but search_path is ${searchPath}, which does not contain a schema with them that the ` +
      `login may use; run: alter role ${login} in database ${database} set search_path = ${existing}; grant usage on schema ${existing} to ${role}`,
  ];
}
