import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { MigrationChangedError, toStoreError } from './errors.ts';
import type { Store } from './store.ts';

interface Migration {
  /** The file name without its ending, for example `0001-accounts-and-credentials`. They apply in the order of their names. */
  name: string;
  sql: string;
  checksum: string;
}

interface AppliedMigration {
  name: string;
  checksum: string;
}

// Any fixed number; it must only be the same in every process that migrates this database.
const migrationLock = 4_301_777;

const migrationsFolder = new URL('../migrations/', import.meta.url);

/**
 * Brings a database to what this build needs. Several processes may call it at the same time: one works, the others wait
 * and find nothing left to do. Each migration is a transaction of its own.
 *
 * @param databaseUrl a direct connection, not a transaction pooler, as a user who may create tables and roles
 * @returns the names of the migrations that this call applied, in order
 * @throws MigrationChangedError when an applied migration differs from this build's
 * @throws StoreUnavailableError when the database cannot be reached
 */
export async function migrate(databaseUrl: string): Promise<{ applied: string[] }> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'deedwire-migrate' });
  client.on('error', () => {}); // the statement under way reports it
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
    const missing = findMissing(await readMigrations(), rows);
    for (const migration of missing) {
      await client.query('begin');
      await client.query(migration.sql);
      await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [
        migration.name,
        migration.checksum,
      ]);
      await client.query('commit');
    }
    return { applied: missing.map(({ name }) => name) };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end(); // ends the lock too, and rolls back what is not committed
  }
}

/** The migrations that this build needs and the database does not have yet. Later ones than this build knows are fine. */
export async function pendingMigrations(store: Store): Promise<string[]> {
  const [known] = await store.query<{ readable: boolean }>(
    // While the first migration runs, the table is there already, but an app's login may not read it yet.
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
  return findMissing(await readMigrations(), applied).map(({ name }) => name);
}

function findMissing(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  return migrations.filter(({ name, checksum }) => {
    const appliedChecksum = checksums.get(name);
    if (appliedChecksum !== undefined && appliedChecksum !== checksum) {
      throw new MigrationChangedError(`Migration ${name} has been edited since it was applied. Add a new one instead.`);
    }
    return appliedChecksum === undefined;
  });
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
