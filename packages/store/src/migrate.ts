import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { toStoreError } from './errors.ts';
import { findPendingMigrations, type AppliedMigration } from './pending-migrations.ts';
import type { Store } from './store.ts';

interface Migration extends AppliedMigration {
  sql: string;
}

// The key of the advisory lock: any number that is the same in every process that migrates this database.
const migrationLock = 4_301_777;

const migrationsFolder = new URL('../migrations/', import.meta.url);

/**
 * Applies the migrations of this build that the database lacks, each in its own transaction. Several processes may call it at
 * the same time: one applies the migrations, the others wait and find nothing left to apply.
 *
 * @param databaseUrl a direct connection, not a transaction pooler, as a user who may create tables and roles
 * @returns the names of the migrations that this call applied, in order
 * @throws {MigrationChangedError} if an applied migration differs from this build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if the database lacks a migration before one that was applied
 * @throws {StoreUnavailableError} when the database is unavailable
 */
export async function migrate(databaseUrl: string): Promise<{ applied: string[] }> {
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
