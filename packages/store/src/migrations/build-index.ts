import type { Client } from 'pg';
import type { LockHolder } from '../kernel/migration-wait.ts';
import { onlyRow } from '../statements/database.ts';
import { openMigrationSession } from './migration-session.ts';
import { watchWaits } from './watch-waits.ts';

/** The first line of a migration that runs outside of a transaction. The rest of the file is one statement. */
const marker = '-- no transaction\n';

const statement = /^create (unique )?index concurrently if not exists ([a-z_]+)\s+on ([a-z_]+)\s([^;]*);\s*$/;

/** An index that a migration without a transaction builds, while the table is written. */
export interface ConcurrentIndex {
  name: string;
  table: string;
  /** The statement for an index of this name on a table or on a partition. The keywords follow `index` and precede the table. */
  create: (keywords: string, name: string, table: string) => string;
}

/**
 * Null for any migration that runs in a transaction.
 *
 * @throws {TypeError} if one that does not contains anything but one `create index concurrently if not exists`
 */
export function concurrentIndexOf({ name: migration, sql }: { name: string; sql: string }): ConcurrentIndex | null {
  if (!sql.startsWith(marker)) return null;
  const [, unique = '', name, table, rest] = statement.exec(sql.replaceAll(/^--.*\n/gm, '')) ?? [];
  if (name !== undefined && table !== undefined && rest !== undefined)
    return {
      name,
      table,
      create: (keywords, of, on) => `create ${unique}index ${keywords} if not exists ${of} on ${on} ${rest}`,
    };
  throw new TypeError(
    `Migration ${migration} runs without a transaction, so it must be one statement ` +
      '`create index concurrently if not exists <name> on <table> …;`, which can be repeated after an interruption.',
  );
}

export interface IndexBuild {
  databaseUrl: string;
  index: ConcurrentIndex;
  /** How long a statement waits for a lock that others wait behind. */
  lockMs: number;
  /** By `performance.now()`: until when it waits for transactions that could not see the index. */
  deadlineMs: number;
  /** How often it looks for the sessions that it waits for. */
  watchEveryMs: number;
  onWait: (holders: readonly LockHolder[]) => void;
}

/**
 * Builds an index on its own connections; on a partitioned table, on one partition after the other. An interrupted run leaves an
 * index that PostgreSQL maintains and never reads: it is dropped and built again. The caller makes sure that no other process builds
 * the same index. It must not have an open snapshot, for which the build would wait.
 */
export async function buildIndex({ databaseUrl, index, watchEveryMs, onWait, ...times }: IndexBuild): Promise<void> {
  const builder = await openMigrationSession(databaseUrl, times);
  try {
    const { rows } = await builder.query<{ pid: number; isPartitioned: boolean }>(
      `select pg_backend_pid() as pid, exists (select from pg_partitioned_table where partrelid = to_regclass($1)) as "isPartitioned"`,
      [index.table],
    );
    const { pid, isPartitioned } = onlyRow(rows);
    const build = isPartitioned
      ? buildOnPartitions(builder, index, times)
      : buildOn(builder, index, { name: index.name, table: index.table }, times);
    await watchWaits(databaseUrl, { pid, everyMs: watchEveryMs, onWait }, build);
  } finally {
    await builder.end();
  }
}

type Times = Pick<IndexBuild, 'deadlineMs' | 'lockMs'>;

async function buildOn(
  builder: Client,
  { create }: ConcurrentIndex,
  { name, table }: { name: string; table: string },
  { deadlineMs, lockMs }: Times,
): Promise<void> {
  const { rows } = await builder.query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [
    name,
  ]);
  // If the session of an interrupted run still builds the index, the drop gives up, and a later try finds the index complete.
  if (rows.length > 0) await builder.query(`drop index concurrently ${name}`);
  await setLockTimeout(builder, deadlineMs - performance.now());
  await builder.query(create('concurrently', name, table));
  await setLockTimeout(builder, lockMs);
}

/** The index of the table comes first, and is not valid yet: a partition that is attached meanwhile gets its own. */
async function buildOnPartitions(builder: Client, index: ConcurrentIndex, times: Times): Promise<void> {
  await builder.query(index.create('', index.name, `only ${index.table}`));
  for (;;) {
    const { rows } = await builder.query<{ table: string }>(
      `select p.inhrelid::regclass::text as table
       from pg_inherits p
       where p.inhparent = to_regclass($1) and not p.inhdetachpending and not exists (
         select from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
         where i.inhparent = to_regclass($2) and x.indrelid = p.inhrelid
       )
       order by p.inhrelid
       limit 1`,
      [index.table, index.name],
    );
    const [partition] = rows;
    if (partition === undefined) return;
    // Partitions have the name of their table, and the day.
    const name = partition.table.replace(index.table, index.name);
    try {
      await buildOn(builder, index, { name, table: partition.table }, times);
      await builder.query(`alter index ${index.name} attach partition ${name}`);
    } catch (error) {
      // Retention drops partitions meanwhile.
      if (await exists(builder, partition.table)) throw error;
    }
  }
}

async function exists(builder: Client, table: string): Promise<boolean> {
  const { rows } = await builder.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [table]);
  return onlyRow(rows).exists;
}

async function setLockTimeout(builder: Client, ms: number): Promise<void> {
  await builder.query(`select set_config('lock_timeout', $1, false)`, [String(Math.max(1, Math.ceil(ms)))]);
}
