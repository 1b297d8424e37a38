import { escapeIdentifier } from 'pg';
import { type Database, onlyRow, sql } from '../statements/database.ts';
import { rolePrefix } from './group-roles.ts';

interface Granted extends Record<string, unknown> {
  /** As SQL takes it. */
  schema: string;
  /** As SQL takes it. Null in a database whose roles have no prefix, or whose owner could not create them. */
  role: string | null;
  /** The functions for applications, as GRANT takes them. */
  signatures: string[];
}

/**
 * The statements with which a login may call the functions for applications, and nothing else. Without the role of applications, the login gets
 * the rights itself: a role without a prefix would have logins of other databases.
 */
export async function grantsToApplication(database: Database, login: string): Promise<string[]> {
  const statement = sql('application-grants')`
      select quote_ident(n.nspname) as schema,
        case when prefix <> '' then to_regrole(quote_ident(prefix || 'application'))::text end as role,
        array(
          select signature
          from application_function
          where to_regprocedure(quote_ident(n.nspname) || '.' || signature) is not null
          order by signature
        ) as signatures
      from (select ${rolePrefix} as prefix) as own, pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where c.oid = to_regclass('schema_migration')`;
  const { schema, role, signatures } = onlyRow(await database.query<Granted>(statement, []));
  const name = escapeIdentifier(login);
  if (role !== null) return [`grant ${role} to ${name};`];
  return [
    `grant usage on schema ${schema} to ${name};`,
    ...signatures.map((signature) => `grant execute on routine ${schema}.${signature} to ${name};`),
  ];
}
