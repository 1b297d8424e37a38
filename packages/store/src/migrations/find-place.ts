import type { Service } from '@deedwire/core';
import { type Database, onlyRow, sql } from '../statements/database.ts';

/** What is chosen when a database is created, and never changes. */
export interface PlaceOptions {
  /** The schema of our tables. If omitted, an existing database keeps its schema, and a new one gets that of `defaults`. */
  schema?: string;
  /**
   * What the names of the group roles begin with. Roles belong to the cluster, so two databases of a cluster need different ones, unless
   * no login of one may connect to the other. If omitted, an existing database keeps its prefix. A new one gets that of `defaults`, and none in
   * the schema `public`.
   */
  rolePrefix?: string;
  /**
   * Of a new database. A login also finds the tables in this schema if it can trust its owner, whatever its search path is. Defaults to the first
   * schema of the search path of the login, and no prefix.
   */
  defaults?: Place;
}

/** Where the tables are, and what the names of the roles begin with. */
export interface Place {
  schema: string;
  rolePrefix: string;
}

/** The schema of a new database by default. */
export const defaultSchema = 'deedwire';

/** Where the commands create the tables of a new database. */
export const defaultPlaceOf = ({ names }: Pick<Service, 'names'>): Place => ({
  schema: defaultSchema,
  rolePrefix: `${names.service}_`,
});

/** Where the tables of a database are, or will be. */
export interface FoundPlace {
  /** Null if the search path of the login names no schema, and the options do not either. */
  schema: string | null;
  /** There are tables. */
  exists: boolean;
  problems: string[];
}

interface Found {
  /** All schemas with our tables. */
  schemas: string[];
  /** Those of them that another login owns, and their owners, in the same order. */
  ofOthers: string[];
  owners: string[];
  /** Where the search path finds them. */
  visibleIn: string | null;
  /** Where the search path would create them. */
  current: string | null;
}

const noSchema = 'the search path of the login names no schema that exists and that it may use; set DATABASE_SCHEMA';

/** The schemas that have our tables, as rows of `place`. */
export const placesWithTables = `place as (
      select n.oid, n.nspname as name
      from pg_namespace n
      where (
        select count(*) from pg_class where relnamespace = n.oid and relname in ('schema_migration', 'installation')
      ) = 2
    )`;

/** The schema of `place` that the search path finds first. */
export const visiblePlace = `(
        select name::text from place
        where oid = (select relnamespace from pg_class where pg_class.oid = to_regclass('schema_migration'::text)::oid)
      )`;

/**
 * A condition of `pg_namespace n`: this login can trust the owner of the schema, which can replace what is in it. A superuser has the rights of all
 * owners, so it trusts only superusers and the owner of the database.
 */
export const isOfTrustedOwner = `(
        select o.rolsuper or case
          when (select rolsuper from pg_roles where rolname = current_user) then o.oid = d.datdba or o.rolname = 'pg_database_owner'
          else pg_has_role(o.oid, 'usage'::text)
        end
        from pg_roles o, pg_database d
        where o.oid = n.nspowner and d.datname = current_database()
      )`;

/** Why a schema of this name cannot have our tables. Null if it can. PostgreSQL would cut a longer name. */
function nameProblem(schema: string): string | null {
  return /^[\p{L}\p{N}_ -]+$/u.test(schema) && Buffer.byteLength(schema) <= 63
    ? null
    : `the name "${schema}" of the schema must have 1 to 63 bytes, and only letters, digits, spaces, hyphens and underscores; set DATABASE_SCHEMA`;
}

/**
 * The schema of our tables: the one of the options, or the one that the search path of the login finds. Any login that may create a schema could
 * have made another one with such tables, so that it is named and not taken.
 */
export async function findSchema(database: Database, { schema, defaults }: PlaceOptions): Promise<FoundPlace> {
  const { schemas, ofOthers, owners, visibleIn, current } = await selectSchemas(database);
  const ofOther = (name: string): string =>
    `the schema ${name} has tables with the names of ours, and belongs to ${owners[ofOthers.indexOf(name)] ?? ''}`;
  if (schemas.length === 0) {
    const chosen = schema ?? defaults?.schema ?? current;
    const problem = chosen === null ? noSchema : nameProblem(chosen);
    return problem === null
      ? { schema: chosen, exists: false, problems: [] }
      : { schema: null, exists: false, problems: [problem] };
  }
  const byDefault =
    defaults !== undefined && isTrusted({ schemas, ofOthers }, defaults.schema) ? defaults.schema : null;
  const found = schema ?? visibleIn ?? byDefault;
  if (schema === undefined && found !== null && ofOthers.includes(found))
    return refuse(`${ofOther(found)}; ${ifYours}`);
  // A build of before and one of later can have created tables at the same moment.
  if (schema === undefined && found !== null && byDefault !== null && found !== byDefault)
    return refuse(`the tables are in ${describeSchemas([byDefault, found]).place}; ${ifYours}`);
  if (found !== null && schemas.includes(found)) return { schema: found, exists: true, problems: [] };
  const [only = ''] = schemas;
  if (schemas.length === 1 && ofOthers.includes(only))
    return refuse(`${ofOther(only)}; if they are yours, set DATABASE_SCHEMA, otherwise let their owner remove them`);
  const { place, remedy } = describeSchemas(schemas);
  return refuse(
    schema === undefined
      ? `the tables are in ${place}, which the search path of the login does not contain; ${remedy}`
      : `the tables are in ${place}, not ${schema}, and cannot move; ${remedy}`,
  );
}

/**
 * The schema of the tables for a command without DATABASE_SCHEMA: the one that the search path of the login finds, or the one of a new database,
 * if the login can trust its owner. Null if there is none.
 */
export async function findUsedSchema(database: Database): Promise<{ schema: string; isVisible: boolean } | null> {
  const found = await selectSchemas(database);
  if (found.visibleIn !== null) return { schema: found.visibleIn, isVisible: true };
  return isTrusted(found, defaultSchema) ? { schema: defaultSchema, isVisible: false } : null;
}

const isTrusted = ({ schemas, ofOthers }: Pick<Found, 'schemas' | 'ofOthers'>, name: string): boolean =>
  schemas.includes(name) && !ofOthers.includes(name);

async function selectSchemas(database: Database): Promise<Found> {
  // The search path is still that of the login, where a better match than one of `pg_catalog` would run: types are exactly those of operators
  // and functions.
  const statement = sql('find-schema')`
    with ${placesWithTables}, of_other as (
      select n.nspname as name, n.nspowner as owner
      from place join pg_namespace n on n.oid = place.oid
      -- Everybody knows whose the schema public is.
      where n.nspname <> 'public' and not ${isOfTrustedOwner}
    )
    select ${visiblePlace} as "visibleIn", array(select name::text from place order by name) as schemas, current_schema()::text as current,
      array(select name::text from of_other order by name) as "ofOthers", array(select owner::regrole::text from of_other order by name) as owners`;
  return onlyRow(await database.query<Found & Record<string, unknown>>(statement, []));
}

const refuse = (problem: string): FoundPlace => ({ schema: null, exists: true, problems: [problem] });

const ifYours = 'set DATABASE_SCHEMA to the one that is yours';

/** As a shell takes it. */
export const schemaVariable = (schema: string): string =>
  `DATABASE_SCHEMA=${/^[\w-]+$/.test(schema) ? schema : `'${schema.replaceAll("'", String.raw`'\''`)}'`}`;

/** Where our tables are. Of several schemas, one may be that of a login which has copied their names. */
export function describeSchemas(schemas: readonly string[]): { place: string; remedy: string } {
  return schemas.length === 1
    ? { place: `the schema ${schemas.join('')}`, remedy: `set ${schemaVariable(schemas.join(''))}` }
    : { place: `the schemas ${schemas.join(' and ')}`, remedy: ifYours };
}
