import type { Database } from '@deedwire/store';
import { parsePartition, type Partition, partitionedTables, type PartitionState } from '../partitions.ts';

/** Reads the catalog. Includes detached partitions that were not dropped. */
export async function selectPartitions(database: Database): Promise<Partition[]> {
  const statement = {
    name: 'select-partitions',
    text: `
      select c.relname::text as name,
        case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'detaching' else 'attached' end as state
      from unnest($1::text[]) as parent (name)
      join pg_class c on starts_with(c.relname::text, parent.name || '_')
      left join pg_inherits i on i.inhrelid = c.oid
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      order by c.relname`,
  };
  const rows = await database.query<{ name: string; state: PartitionState }>(statement, [[...partitionedTables]]);
  return rows.map(({ name, state }) => parsePartition(name, state)).filter((partition) => partition !== null);
}
