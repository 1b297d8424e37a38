import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { CellMismatchError, toStoreError } from './errors.ts';
import { findPendingMigrations, type AppliedMigration } from './pending-migrations.ts';
import type { Store } from './store.ts';

interface Migration extends AppliedMigration {
  sql: string;
}

// The key of the advisory lock: any number that is the same in every process that migrates this database.
const migrationLock = 4_301_777;

const defaultCell = 0;

const migrationsFolder = new URL('../migrations/', import.meta.url);

/**
 * Applies the migrations of this build that the database lacks, each in its own transaction. Several processes may call it at
 * the same time: one applies the migrations, the others wait and find nothing left to apply.
 *
 * @param databaseUrl a direct connection, not a transaction pooler, as a user who may create tables and roles
 * @param options.cell 0 to 1023: the number of this database in the ids of its records. The first migration of a database
 * stores it; nothing changes it later. If omitted, a new database gets 0 and an existing one keeps its number.
 * @returns the names of the migrations that this call applied, in order
 * @throws {CellMismatchError} if the database has another cell than `options.cell`
 * @throws {MigrationChangedError} if an applied migration differs from this build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if the database lacks a migration before one that was applied
 * @throws {StoreUnavailableError} when the database is unavailable
 */
export async function migrate(databaseUrl: string, options: { cell?: number } = {}): Promise<{ applied: string[] }> {
  const { cell } = options;
  const client = new Client({ connectionString: databaseUrl, application_name: 'deedwire-migrate' });
  client.on('error', () => {}); // the running statement rejects with the same error
  try {
    await client.connect();
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await client.query(`
      create table if not exists schema_migration (
        name text primary key,
        checksum text not null,
        applied_at timestamptz(3) not null default now()
      )`);
    const { rows } = await client.query<AppliedMigration>('select name, checksum from schema_migration');
    const pending = findPendingMigrations(await readMigrations(), rows);
    if (cell !== undefined) await checkCell(client, cell);
    // The first migration reads the setting.
    await client.query(`select set_config('deedwire.cell', $1, false)`, [String(cell ?? defaultCell)]);
    for (const migration of pending) {
      await client.query('begin');
      await client.query(migration.sql);
      await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [
        migration.name,
        migration.checksum,
      ]);
      await client.query('commit');
    }
    return { applied: pending.map(({ name }) => name) };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end(); // releases the lock and rolls back an open transaction
  }
}

/** @throws {CellMismatchError} if the database has a cell, and it is not this one */
async function checkCell(client: Client, cell: number): Promise<void> {
  const { rows: tables } = await client.query(`select where to_regclass('installation') is not null`);
  if (tables.length === 0) return;
  const { rows } = await client.query<{ cell: number }>('select cell from installation');
  const [own] = rows;
  if (own !== undefined && own.cell !== cell) throw new CellMismatchError(own.cell, cell);
}

/**
 * The names of the migrations that the database lacks. Migrations of a later build are accepted.
 *
 * @throws {MigrationChangedError} as `migrate` does
 * @throws {MigrationMissingError} as `migrate` does
 */
export async function pendingMigrations(store: Store): Promise<string[]> {
  const [known] = await store.query<{ readable: boolean }>(
    // While the first migration runs, the table exists, but the login of an app may not read it yet.
    {
      name: 'has-migrations',
      text: `select coalesce(has_table_privilege(to_regclass('schema_migration'), 'select'), false) as readable`,
    },
    [],
  );
  const applied = known?.readable
    ? await store.query<AppliedMigration>(
        { name: 'applied-migrations', text: 'select name, checksum from schema_migration' },
        [],
      )
    : [];
  return findPendingMigrations(await readMigrations(), applied).map(({ name }) => name);
}

async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(migrationsFolder)).filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, migrationsFolder), 'utf8');
      return { name: file.slice(0, -'.sql'.length), sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
