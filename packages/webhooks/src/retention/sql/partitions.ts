import { type Database, type Statement, type Store, type Transaction, sql } from '@deedwire/store';
import { selectTime } from '@deedwire/store/time';
import type { Reports, RetentionEvent } from '../../events.ts';
import {
  dayOf,
  daysAhead,
  parsePartition,
  type Partition,
  partitionedTables,
  type PartitionedTable,
  type RetentionDays,
} from '../partitions.ts';

// Other statements wait behind this transaction for as long as it waits for a lock.
const setLockTimeout = sql('set-lock-timeout')`set local lock_timeout = '100ms'`;
const createPartitionsStatement = sql('create-partitions')`call webhook_create_partitions($1)`;

/** Creates the missing partitions from yesterday to `days` days from today, by the database clock. */
export async function createPartitions(transaction: Transaction, days: number): Promise<void> {
  await transaction.query(setLockTimeout, []);
  await transaction.query(createPartitionsStatement, [days]);
}

/** The partitions in use. Reads the catalog. */
async function selectPartitions(database: Database): Promise<Partition[]> {
  const statement = sql('select-partitions')`
      select c.relname::text as name
      from unnest($1::text[]) as parent (name)
      join pg_inherits i on i.inhparent = to_regclass(parent.name) and not i.inhdetachpending
      join pg_class c on c.oid = i.inhrelid`;
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
  const statement = sql('select-due-partitions')`
      select name from webhook_due_partitions($1)
      union all
      select name from webhook_due_exchange_partitions($2) as name`;
  const rows = await database.query<{ name: string }>(statement, [history, exchanges]);
  return rows.map(({ name }) => name);
}

const dropHistory = sql('drop-due-partition')`select webhook_drop_partition($1) as name`;
const dropExchanges = sql('drop-due-exchange-partition')`select webhook_drop_exchange_partition($1) as name`;

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

const wantedDaysAhead = 60;
const alarmDaysAhead = 14;

/** For how many days after today the tables, or all that are partitioned, have partitions. -1 if one is missing today. */
export async function readDaysAhead(store: Store, tables?: readonly PartitionedTable[]): Promise<number> {
  const [partitions, now] = [await selectPartitions(store), await selectTime(store)];
  return daysAhead(partitions, dayOf(now), tables);
}

/** Creates partitions for the next 60 days. One transaction per day, so that locks are held for a short time. */
export async function keepPartitions(store: Store, onEvent: Reports<RetentionEvent>['onEvent']): Promise<void> {
  const before = await readDaysAhead(store);
  try {
    for (let day = Math.max(0, before + 1); day <= wantedDaysAhead; day += 1) {
      await store.transaction((transaction) => createPartitions(transaction, day));
    }
  } finally {
    const after = await readDaysAhead(store);
    if (after > before) onEvent({ kind: 'partitions-created', daysAhead: after });
    if (after < alarmDaysAhead) onEvent({ kind: 'partitions-short', alarm: true, daysAhead: after });
  }
}
