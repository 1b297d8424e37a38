import type { Database, Statement, Transaction } from '@deedwire/store';
import { parsePartition, type Partition, partitionedTables } from '../partitions.ts';

// Other statements wait behind this transaction for as long as it waits for a lock.
const setLockTimeout: Statement = { name: 'set-lock-timeout', text: `set local lock_timeout = '100ms'` };
const createPartitionsStatement: Statement = {
  name: 'create-partitions',
  text: 'call webhook_create_partitions($1)',
};

/** Creates the missing partitions from yesterday to `daysAhead` days from today, by the database clock. */
export async function createPartitions(transaction: Transaction, daysAhead: number): Promise<void> {
  await transaction.query(setLockTimeout, []);
  await transaction.query(createPartitionsStatement, [daysAhead]);
}

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

/**
 * Returns the names of the partitions that are no longer needed, in the order in which they are dropped. Reads the catalog.
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
