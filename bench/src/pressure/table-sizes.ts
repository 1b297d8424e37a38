import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@deedwire/embedded-postgres';

/** A table, with its partitions and indexes. */
export interface TableSize {
  table: string;
  deadRows: number;
  bytes: number;
}

const selectSizes = `
  select coalesce(inhparent, relid)::regclass::text as table,
    sum(n_dead_tup)::float8 as "deadRows", sum(pg_total_relation_size(relid))::float8 as bytes
  from pg_stat_user_tables left join pg_inherits on inhrelid = relid
  group by 1 order by 1`;

export async function readTableSizes(databaseUrl: string): Promise<TableSize[]> {
  return withClient(databaseUrl, async (client) => (await client.query<TableSize>(selectSizes)).rows);
}

const everyMs = 5_000;

/**
 * Reads the sizes again and again while `work` runs. A database that refuses it is read later.
 *
 * @returns the most of each table at a time
 */
export async function watchTableSizes(databaseUrl: string, work: () => Promise<unknown>): Promise<TableSize[]> {
  const most = new Map<string, TableSize>();
  let isRunning = true;
  const watch = async (): Promise<void> => {
    while (isRunning) {
      for (const size of await readTableSizes(databaseUrl).catch(() => [])) {
        const { deadRows = 0, bytes = 0 } = most.get(size.table) ?? {};
        most.set(size.table, {
          table: size.table,
          deadRows: Math.max(deadRows, size.deadRows),
          bytes: Math.max(bytes, size.bytes),
        });
      }
      await Promise.race([sleep(everyMs), working.catch(() => {})]);
    }
  };
  const working = work().finally(() => {
    isRunning = false;
  });
  const watching = watch();
  await working;
  await watching;
  return [...most.values()];
}
