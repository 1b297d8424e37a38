import { type Database, sql } from '../statements/database.ts';

/**
 * The functions that run with the rights of the owner of the tables and that every login may call, as SQL takes them with any search path: a
 * restore without rights leaves them so. Without those of extensions.
 */
export async function findOpenFunctions(database: Database): Promise<string[]> {
  const statement = sql('open-functions')`
      select format('%s.%I(%s)', c.relnamespace::regnamespace, p.proname, (
          select string_agg(
            concat(case when t.typnamespace = c.relnamespace then c.relnamespace::regnamespace || '.' end, format_type(t.oid, null)), ', '
            order by a.number
          )
          from unnest(p.proargtypes::oid[]) with ordinality as a (type, number)
          join pg_type t on t.oid = a.type
        )) as name
      from pg_class c
      join pg_proc p on p.pronamespace = c.relnamespace and p.proowner = c.relowner and p.prosecdef
      where c.oid = to_regclass('schema_migration')
        and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)
        and not exists (
          select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
        )
      order by 1`;
  return (await database.query<{ name: string }>(statement, [])).map(({ name }) => name);
}
