import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '@deedwire/core';
import { type Client, DatabaseError, type QueryResultRow } from 'pg';
import { CellMismatchError, MigrationBlockedError, toStoreError, UnsuitableDatabaseError } from '../kernel/errors.ts';
import type { LockHolder, MigrationWait } from '../kernel/migration-wait.ts';
import { type Database, onlyRow, type Statement } from '../statements/database.ts';
import { buildIndex, concurrentIndexOf } from './build-index.ts';
import { findSettingProblems } from './database-settings.ts';
import { findUnlisted, findUnregistered } from './find-unregistered.ts';
import { openMigrationSession } from './migration-session.ts';
import { findOutdatingMigration, findPendingMigrations, type AppliedMigration } from './pending-migrations.ts';
import { refuseObjectsOfApps } from './refuse-objects-of-apps.ts';
import { registerService } from './register-service.ts';
import { watchWaits } from './watch-waits.ts';

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
  /** Called again and again while a migration waits for other sessions. */
  onWait?: (wait: MigrationWait) => void;
  /** Called with how the tables and sequences of the service differ from what its migrations have registered: a sentence each. */
  onUnregistered?: (problem: string) => void;
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

/** At least once in each try. */
const watchEveryMs = 200;

const migrationsFolder = new URL('../../migrations/', import.meta.url);

/**
 * Applies the migrations of this build that the database lacks, each in its own transaction, or without one if it builds an index
 * while the table is written. Several processes may call it at the same time: they apply each migration once. A migration that
 * waits too long for a lock is rolled back and tried again. Then registers the service.
 *
 * @param databaseUrl a direct connection, not a transaction pooler, as a user who may create tables and roles
 * @param service the application, as its apps take it
 * @returns the names of the migrations that this call applied, in order
 * @throws {CellMismatchError} if the database has another cell than `options.cell`
 * @throws {MigrationBlockedError} if locks were held for longer than `options.waitMs`
 * @throws {MigrationChangedError} if an applied migration differs from this build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if the database lacks a migration before one that was applied
 * @throws {ServiceConflictError} if the database knows another service by the names of this one. The migrations are applied.
 * @throws {ObjectsOfAppsError} if the login of an app owns objects, or may create some
 * @throws {StoreUnavailableError} when the database is unavailable
 * @throws {UnsuitableDatabaseError} if the encoding, a setting, the schema or the login keeps migrations from being applied
 */
export async function migrate(
  databaseUrl: string,
  service: Service,
  options: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  return applyMigrations(databaseUrl, await readMigrations(), options, service);
}

/** Does what `migrate` does with other migrations, for tests. Registers nothing if `service` is null. */
export async function applyMigrations(
  databaseUrl: string,
  migrations: readonly Migration[],
  options: MigrateOptions,
  service: Service | null = null,
): Promise<{ applied: string[] }> {
  const { cell, waitMs = defaultWaitMs, onWait } = options;
  let client: Client | undefined;
  try {
    client = await openMigrationSession(databaseUrl, { lockMs: lockTimeoutMs });
    await requireSuitableDatabase(client);
    // The first migration reads the setting.
    await client.query(`select set_config('deedwire.cell', $1, false)`, [String(cell ?? defaultCell)]);
    await refuseObjectsOfApps(client);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const applied: string[] = [];
    let lastWait: MigrationWait = { migration: null, holders: [] };
    const run: Run = {
      databaseUrl,
      client,
      pid: onlyRow(rows).pid,
      migrations,
      service,
      cell,
      deadlineMs: performance.now() + waitMs,
      onWait(wait) {
        lastWait = wait;
        onWait?.(wait);
      },
    };
    for (let isComplete = false; !isComplete;) {
      const step = await applyNext(run);
      if (step.kind === 'complete') {
        isComplete = true;
        for (const problem of step.unregistered) options.onUnregistered?.(problem);
      } else if (step.kind === 'applied') applied.push(step.migration);
      else {
        const { migration, cause } = step;
        const holders = lastWait.migration === migration ? lastWait.holders : [];
        if (performance.now() > run.deadlineMs) throw new MigrationBlockedError({ migration, holders }, cause);
        await sleep(pauseMs);
      }
    }
    return { applied };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client?.end(); // rolls back an open transaction
  }
}

interface Run {
  databaseUrl: string;
  client: Client;
  /** Of the client's session. */
  pid: number;
  migrations: readonly Migration[];
  service: Service | null;
  cell: number | undefined;
  deadlineMs: number;
  onWait: (wait: MigrationWait) => void;
}

type Step =
  | { kind: 'applied'; migration: string }
  | { kind: 'complete'; unregistered: string[] }
  | { kind: 'blocked'; migration: string | null; cause: unknown };

/**
 * Applies the first migration that the database lacks. The transaction holds the lock of the migrations while an index is built
 * without one. It is idle meanwhile and has no snapshot, so that the build does not wait for it.
 */
async function applyNext(run: Run): Promise<Step> {
  const { databaseUrl, client, pid, service, onWait } = run;
  let next: Migration | undefined;
  const onBlocked = (holders: readonly LockHolder[]) => onWait({ migration: next?.name ?? null, holders });
  const watched = <Result>(work: Promise<Result>): Promise<Result> =>
    watchWaits(databaseUrl, { pid, everyMs: watchEveryMs, onWait: onBlocked }, work);
  try {
    next = await watched(beginNext(run));
    if (next === undefined) {
      if (service !== null) await registerService(client, service);
      await client.query('commit');
      return { kind: 'complete', unregistered: service === null ? [] : await compareService(client, service) };
    }
    const index = concurrentIndexOf(next);
    await (index === null
      ? watched(client.query(next.sql))
      : buildIndex({
          databaseUrl,
          index,
          lockMs: lockTimeoutMs,
          deadlineMs: run.deadlineMs,
          watchEveryMs,
          onWait: onBlocked,
        }));
    await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [next.name, next.checksum]);
    await client.query('commit');
    return { kind: 'applied', migration: next.name };
  } catch (error) {
    if (!isConflict(error, next === undefined)) throw error;
    await client.query('rollback');
    return { kind: 'blocked', migration: next?.name ?? null, cause: error };
  }
}

async function compareService(client: Client, service: Service): Promise<string[]> {
  const database = asDatabase(client);
  return [...(await findUnregistered(database, service)), ...(await findUnlisted(database, service))];
}

/** Begins a transaction, which sees what others commit, and returns the first migration that the database lacks. */
async function beginNext({ client, migrations, cell }: Run): Promise<Migration | undefined> {
  await client.query('begin isolation level read committed');
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
  return findPendingMigrations(migrations, rows)[0];
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

/** Before the first statement that changes something. @throws {UnsuitableDatabaseError} */
async function requireSuitableDatabase(client: Client): Promise<void> {
  const problems = await findSettingProblems(asDatabase(client), 'migrate');
  if (problems.length > 0) throw new UnsuitableDatabaseError(problems);
}

function asDatabase(client: Client): Database {
  return {
    query: async <Row extends QueryResultRow>({ text }: Statement, values: readonly unknown[]) =>
      (await client.query<Row>(text, [...values])).rows,
  };
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
