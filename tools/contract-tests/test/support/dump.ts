import type { Harness } from '@deedwire/dev-environment/harness';

/**
 * Every row of every table, as pg_dump writes them.
 *
 * @param views read too
 */
export async function dump({ sql }: Pick<Harness, 'sql'>, ...views: string[]): Promise<string> {
  const tables = await sql(
    `select oid::regclass::text as name from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`,
  );
  const names = [...tables.map(({ name }) => String(name)), ...views];
  const rows = await sql(names.map((name) => `select t::text as row from ${name} t`).join(' union all '));
  return rows.map(({ row }) => `${String(row)}\n`).join('');
}
