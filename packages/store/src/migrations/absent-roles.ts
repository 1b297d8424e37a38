import { type Database, sql } from '../statements/database.ts';
import type { GroupRole } from './group-roles.ts';

/**
 * The names of those of these roles that have no right in this database and no policy: the owner could not create them, or a role of the
 * name belongs to another database of the cluster. A database that was restored without rights has the policies.
 *
 * @param prefix of the names of the group roles in this database
 */
export async function findAbsentRoles(
  database: Database,
  roles: readonly GroupRole[],
  prefix: string,
): Promise<string[]> {
  const statement = sql('absent-roles')`
      with role as (
        select name, number, to_regrole(quote_ident(name))::oid as id from unnest($1::text[]) with ordinality as r (name, number)
      ), own as (
        select relnamespace as schema, relacl from pg_class where oid = to_regclass('schema_migration')
      )
      select name
      from role
      where not exists (select from own, aclexplode(own.relacl) a where a.grantee = role.id)
        and not exists (
          select from own join pg_class c on c.relnamespace = own.schema join pg_policy p on p.polrelid = c.oid
          where role.id = any (p.polroles)
        )
      order by number`;
  return (await database.query<{ name: string }>(statement, [roles.map((role) => prefix + role)])).map(
    ({ name }) => name,
  );
}

/** What a database without these roles does not limit. One sentence without the period. */
export function describeAbsentRoles(roles: readonly string[]): string {
  return (
    `the database has no roles ${roles.join(', ')}, so their apps log in as its owner: row-level security does not apply to them, a stolen ` +
    'login of one has all rights of the owner, and each can store contracts and register processes as any app. To have these limits, let a login ' +
    'with createrole create the database'
  );
}
