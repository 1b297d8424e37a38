import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import { buildIndex, concurrentIndexOf } from './build-index.ts';
import { createClient } from './connect.ts';
import { CellMismatchError, MigrationBlockedError, toStoreError } from './errors.ts';
import { type MigrationWait, selectLockHolders } from './migration-wait.ts';
import { findOutdatingMigration, findPendingMigrations, type AppliedMigration } from './pending-migrations.ts';
import { refuseObjectsOfApps } from './refuse-objects-of-apps.ts';
import { startupOptions } from './session-settings.ts';

export interface Migration extends AppliedMigration {
  sql: string;
}

export interface MigrateOptions {
  /**
   * 0 to 1023: the number of this database in the ids of its records. The first migration of a database stores it; nothing
   * changes it later. If omitted, a new database gets 0 and an existing one keeps its number.
   */
  cell?: number;
  /** How long all migrations together wait for locks that others hold. Defaults to 10 minutes. */
  waitMs?: number;
  /** Called each time a migration was rolled back, because it waited too long for a lock, and while an index waits for one. */
  onWait?: (wait: MigrationWait) => void;
}

const defaultCell = 0;

const defaultWaitMs = 600_000;

/**
 * While a migration waits for a lock, all that use the table wait behind it. Shorter than the lock timeout of the apps, so that
 * their statements go on, and than PostgreSQL's `deadlock_timeout`, so that a deadlock ends the migration and not an app's
 * transaction.
 */
const lockTimeoutMs = 500;

/** Between two tries, so that what has waited goes on. */
const pauseMs = 1000;

const migrationsFolder = new URL('../migrations/', import.meta.url);

/**
 * Applies the migrations of this build that the database lacks, each in its own transaction, or without one if it builds an index
 * while the table is written. Several processes may call it at the same time: they apply each migration once. A migration that
 * waits too long for a lock is rolled back and tried again.
 *
 * @param databaseUrl a direct connection, not a transaction pooler, as a user who may create tables and roles
 * @returns the names of the migrations that this call applied, in order
 * @throws {CellMismatchError} if the database has another cell than `options.cell`
 * @throws {MigrationBlockedError} if locks were held for longer than `options.waitMs`
 * @throws {MigrationChangedError} if an applied migration differs from this build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if the database lacks a migration before one that was applied
 * @throws {ObjectsOfAppsError} if the login of an app owns objects, or may create some
 * @throws {StoreUnavailableError} when the database is unavailable
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  return applyMigrations(databaseUrl, await readMigrations(), options);
}

/** Does what `migrate` does with other migrations, for tests. */
export async function applyMigrations(
  databaseUrl: string,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<{ applied: string[] }> {
  const { cell, waitMs = defaultWaitMs, onWait } = options;
  const client = createClient(databaseUrl, {
    application_name: 'deedwire-migrate',
    // Its transaction is idle while an index is built on another connection.
    options: startupOptions({ idle_in_transaction_session_timeout: 0 }),
  });
  try {
    await client.connect();
    await client.query(`select set_config('lock_timeout', $1, false)`, [String(lockTimeoutMs)]);
    // The first migration reads the setting.
    await client.query(`select set_config('deedwire.cell', $1, false)`, [String(cell ?? defaultCell)]);
    await refuseObjectsOfApps(client);
    const applied: string[] = [];
    const deadlineMs = performance.now() + waitMs;
    const build = (migration: string, index: string, sql: string): Promise<void> =>
      buildIndex({
        databaseUrl,
        sql,
        index,
        waitMs: deadlineMs - performance.now(),
        pauseMs,
        onWait: (holders) => onWait?.({ migration, holders }),
      });
    for (let isComplete = false; !isComplete;) {
      const step = await applyNext(client, migrations, cell, build);
      if (step.kind === 'complete') isComplete = true;
      else if (step.kind === 'applied') applied.push(step.migration);
      else {
        const wait = { migration: step.migration, holders: await selectLockHolders(client, null) };
        if (performance.now() > deadlineMs) throw new MigrationBlockedError(wait, step.cause);
        onWait?.(wait);
        await sleep(pauseMs);
      }
    }
    return { applied };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end(); // rolls back an open transaction
  }
}

type Step =
  | { kind: 'applied'; migration: string }
  | { kind: 'complete' }
  | { kind: 'blocked'; migration: string | null; cause: unknown };

/**
 * Applies the first migration that the database lacks. The transaction holds the lock of the migrations while an index is built
 * without one. It is idle meanwhile and has no snapshot, so that the build does not wait for it.
 */
async function applyNext(
  client: Client,
  migrations: readonly Migration[],
  cell: number | undefined,
  build: (migration: string, index: string, sql: string) => Promise<void>,
): Promise<Step> {
  let next: Migration | undefined;
  try {
    await client.query('begin');
    await client.query(`
      create table if not exists schema_migration (
        name text primary key,
        checksum text not null,
        applied_at timestamptz(3) not null default now()
      )`);
    // One process at a time. Apps can read the table, and have no right that this lock needs.
    await client.query('lock table schema_migration in share row exclusive mode');
    const { rows } = await client.query<AppliedMigration>('select name, checksum from schema_migration');
    if (cell !== undefined) await checkCell(client, cell);
    [next] = findPendingMigrations(migrations, rows);
    if (next === undefined) {
      await client.query('commit');
      return { kind: 'complete' };
    }
    const index = concurrentIndexOf(next);
    await (index === null ? client.query(next.sql) : build(next.name, index, next.sql));
    await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [next.name, next.checksum]);
    await client.query('commit');
    return { kind: 'applied', migration: next.name };
  } catch (error) {
    if (!isConflict(error, next === undefined)) throw error;
    await client.query('rollback');
    return { kind: 'blocked', migration: next?.name ?? null, cause: error };
  }
}

// SQLSTATE lock_not_available and deadlock_detected.
const lockStates = ['55P03', '40P01'];

// SQLSTATE unique_violation, duplicate_table and duplicate_object (the type of the rows): another process has created
// `schema_migration` at the same time.
const creationStates = ['23505', '42P07', '42710'];

/** Whether a try can succeed later. */
function isConflict(error: unknown, isPreparing: boolean): boolean {
  if (!(error instanceof DatabaseError) || error.code === undefined) return false;
  return lockStates.includes(error.code) || (isPreparing && creationStates.includes(error.code));
}

/** @throws {CellMismatchError} if the database has a cell, and it is not this one */
async function checkCell(client: Client, cell: number): Promise<void> {
  const { rows: tables } = await client.query(`select where to_regclass('installation') is not null`);
  if (tables.length === 0) return;
  const { rows } = await client.query<{ cell: number }>('select cell from installation');
  const [own] = rows;
  if (own !== undefined && own.cell !== cell) throw new CellMismatchError(own.cell, cell);
}

/** Names of migrations, in order. */
export interface ComparedMigrations {
  /** Those of this build that the database lacks. */
  pending: string[];
  /** Those of a later build that were applied. */
  later: string[];
  /** The first one after which this build no longer works. Null if there is none. */
  outdating: string | null;
}

/**
 * Compares the migrations of a database with those of this build.
 *
 * @throws {MigrationChangedError} as `migrate` does
 * @throws {MigrationMissingError} as `migrate` does
 */
export async function compareMigrations(applied: readonly AppliedMigration[]): Promise<ComparedMigrations> {
  const migrations = await readMigrations();
  const lastOwn = migrations.at(-1)?.name ?? '';
  return {
    pending: findPendingMigrations(migrations, applied).map(({ name }) => name),
    later: applied.map(({ name }) => name).filter((name) => name > lastOwn),
    outdating: findOutdatingMigration(migrations, applied),
  };
}

/** Reads the migrations of a folder. Defaults to those of this build. */
export async function readMigrations(folder = migrationsFolder): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, folder), 'utf8');
      return { name: file.slice(0, -'.sql'.length), sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
