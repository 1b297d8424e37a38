import { onlyRow } from './database.ts';
import { openMigrationSession } from './migration-session.ts';
import type { LockHolder } from './migration-wait.ts';
import { watchWaits } from './watch-waits.ts';

/** The first line of a migration that runs outside of a transaction. The rest of the file is one statement. */
const marker = '-- no transaction\n';

const statement = /^create (?:unique )?index concurrently if not exists ([a-z_]+)\s[^;]*;\s*$/;

/**
 * The name of the index that a migration without a transaction builds, while the table is written. Null for any other migration.
 *
 * @throws {TypeError} if such a migration contains anything but one `create index concurrently if not exists`
 */
export function concurrentIndexOf({ name, sql }: { name: string; sql: string }): string | null {
  if (!sql.startsWith(marker)) return null;
  const [, index] = statement.exec(sql.replaceAll(/^--.*\n/gm, '')) ?? [];
  if (index !== undefined) return index;
  throw new TypeError(
    `Migration ${name} runs without a transaction, so it must be one statement ` +
      '`create index concurrently if not exists <name> …;`, which can be repeated after an interruption.',
  );
}

export interface IndexBuild {
  databaseUrl: string;
  /** The migration. */
  sql: string;
  index: string;
  /** How long it waits for each of the transactions that could not see the index. */
  waitMs: number;
  /** How often it looks for the sessions that it waits for. */
  pauseMs: number;
  onWait: (holders: readonly LockHolder[]) => void;
}

/**
 * Builds an index on connections of its own. An interrupted run leaves an index that PostgreSQL maintains and never reads: it is
 * dropped and built again. The caller makes sure that no other process builds the same index. It must not have an open snapshot,
 * for which the build would wait.
 */
export async function buildIndex({ databaseUrl, sql, index, waitMs, pauseMs, onWait }: IndexBuild): Promise<void> {
  // If the session of an interrupted run still builds the index, the drop gives up, and a later try finds the index complete.
  const builder = await openMigrationSession(databaseUrl, { lockMs: pauseMs });
  try {
    const { rows } = await builder.query<{ pid: number; isInvalid: boolean }>(
      `select pg_backend_pid() as pid,
         exists (select from pg_index where indexrelid = to_regclass($1) and not indisvalid) as "isInvalid"`,
      [index],
    );
    const { pid, isInvalid } = onlyRow(rows);
    const build = async (): Promise<void> => {
      if (isInvalid) await builder.query(`drop index concurrently ${index}`);
      await builder.query(`select set_config('lock_timeout', $1, false)`, [String(Math.max(1, Math.ceil(waitMs)))]);
      await builder.query(sql);
    };
    await watchWaits(databaseUrl, { pid, everyMs: pauseMs, onWait }, build());
  } finally {
    await builder.end();
  }
}
