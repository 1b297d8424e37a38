import { type Database, onlyRow, sql } from '../statements/database.ts';

/** What is chosen when a database is created, and never changes. */
export interface PlaceOptions {
  /**
   * The schema of our tables. If omitted, an existing database keeps its schema, and a new one gets the first schema of the search path of the
   * login.
   */
  schema?: string;
  /**
   * What the names of the group roles begin with. Roles belong to the cluster, so two databases of a cluster need different ones, unless
   * no login of one may connect to the other. If omitted, an existing database keeps its prefix, and a new one has none.
   */
  rolePrefix?: string;
}

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
        where oid = (select relnamespace from pg_class where pg_class.oid = to_regclass('schema_migration'))
      )`;

/**
 * The schema of our tables: the one of the options, or the one that the search path of the login finds. Any login that may create a schema could
 * have made another one with such tables, so that it is named and not taken.
 */
export async function findSchema(database: Database, { schema }: PlaceOptions): Promise<FoundPlace> {
  const statement = sql('find-schema')`
    with ${placesWithTables}
    select ${visiblePlace} as "visibleIn", array(select name::text from place order by name) as schemas, current_schema()::text as current`;
  const { schemas, visibleIn, current } = onlyRow(await database.query<Found & Record<string, unknown>>(statement, []));
  if (schemas.length === 0) {
    const chosen = schema ?? current;
    return { schema: chosen, exists: false, problems: chosen === null ? [noSchema] : [] };
  }
  const found = schema ?? visibleIn;
  if (found !== null && schemas.includes(found)) return { schema: found, exists: true, problems: [] };
  const { place, remedy } = describeSchemas(schemas);
  const problem =
    schema === undefined
      ? `the tables are in ${place}, which the search path of the login does not contain; ${remedy}`
      : `the tables are in ${place}, not ${schema}, and cannot move; ${remedy}`;
  return { schema: null, exists: true, problems: [problem] };
}

/** Where our tables are. Of several schemas, one may be that of a login which has copied their names. */
export function describeSchemas(schemas: readonly string[]): { place: string; remedy: string } {
  return schemas.length === 1
    ? { place: `the schema ${schemas.join('')}`, remedy: `set DATABASE_SCHEMA=${schemas.join('')}` }
    : { place: `the schemas ${schemas.join(' and ')}`, remedy: 'set DATABASE_SCHEMA to the one that is yours' };
}
