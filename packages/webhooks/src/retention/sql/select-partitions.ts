import type { Database } from '@deedwire/store';
import { parsePartition, type Partition, partitionedTables } from '../partitions.ts';

/** The partitions in use. Reads the catalog. */
export async function selectPartitions(database: Database): Promise<Partition[]> {
  const statement = {
    name: 'select-partitions',
    text: `
      select c.relname::text as name
      from unnest($1::text[]) as parent (name)
      join pg_inherits i on i.inhparent = to_regclass(parent.name) and not i.inhdetachpending
      join pg_class c on c.oid = i.inhrelid`,
  };
  const rows = await database.query<{ name: string }>(statement, [[...partitionedTables]]);
  return rows.map(({ name }) => parsePartition(name)).filter((partition) => partition !== null);
}
