import type { Database, Statement, Transaction } from '@deedwire/store';
import { parsePartition, type Partition, partitionedTables, type RetentionDays } from '../partitions.ts';

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
 */
export async function selectDuePartitions(
  database: Database,
  { history, exchanges }: RetentionDays,
): Promise<string[]> {
  const statement = {
    name: 'select-due-partitions',
    text: `
      select name from webhook_due_partitions($1)
      union all
      select name from webhook_due_exchange_partitions($2) as name`,
  };
  const rows = await database.query<{ name: string }>(statement, [history, exchanges]);
  return rows.map(({ name }) => name);
}

const dropHistory: Statement = { name: 'drop-due-partition', text: 'select webhook_drop_partition($1) as name' };
const dropExchanges: Statement = {
  name: 'drop-due-exchange-partition',
  text: 'select webhook_drop_exchange_partition($1) as name',
};

/**
 * Drops the first due partition of events, payloads, deliveries or attempts. Returns its name, or null if none is due.
 *
 * @param retentionDays how long payloads are kept
 * @throws {LockTimeoutError} if other transactions use its table for longer than 100 ms
 */
export function dropDuePartition(database: Database, retentionDays: number): Promise<string | null> {
  return drop(database, dropHistory, retentionDays);
}

/** The same for the details of attempts. */
export function dropDueExchangePartition(database: Database, keepDays: number): Promise<string | null> {
  return drop(database, dropExchanges, keepDays);
}

async function drop(database: Database, statement: Statement, days: number): Promise<string | null> {
  const [row] = await database.query<{ name: string | null }>(statement, [days]);
  return row?.name ?? null;
}
