import type { Connection } from '@deedwire/testing';

/** The columns that can hold text, and of which interface their table is. Null: the table is the platform's. */
export async function readTextColumns(
  connection: Pick<Connection, 'run'>,
): Promise<{ name: string; interfaceName: string | null }[]> {
  const rows = await connection.run(
    `select c.relname || '.' || a.attname as name, o.of_interface::text as "interfaceName"
     from pg_attribute a
     join pg_class c on c.oid = a.attrelid
     join pg_type t on t.oid = a.atttypid
     left join own_table o on o.relation = c.relname
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0
       and not a.attisdropped and (t.typcategory in ('S', 'U') or t.typname = '_text')
     order by c.relname || '.' || a.attname collate "C"`,
  );
  return rows.map(({ name, interfaceName }) => ({
    name: String(name),
    interfaceName: typeof interfaceName === 'string' ? interfaceName : null,
  }));
}
