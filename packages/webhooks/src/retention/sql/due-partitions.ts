import type { Database } from '@deedwire/store';

/**
 * The names of the partitions of which nothing is needed any more, in the order in which they are dropped. Reads the catalog.
 *
 * @param retentionDays how long payloads are kept
 */
export async function selectDuePartitions(database: Database, retentionDays: number): Promise<string[]> {
  const statement = { name: 'select-due-partitions', text: 'select name from webhook_due_partitions($1)' };
  const rows = await database.query<{ name: string }>(statement, [retentionDays]);
  return rows.map(({ name }) => name);
}

/**
 * Drops the first due partition. Returns its name, or null if none is due.
 *
 * @throws {LockTimeoutError} if other transactions use its table for longer than 100 ms
 */
export async function dropDuePartition(database: Database, retentionDays: number): Promise<string | null> {
  const statement = { name: 'drop-due-partition', text: 'select webhook_drop_partition($1) as name' };
  const [row] = await database.query<{ name: string | null }>(statement, [retentionDays]);
  return row?.name ?? null;
}
