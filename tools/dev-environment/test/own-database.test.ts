import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interfaceNames, testService } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { runOnce } from '@deedwire/testing';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { claimDatabase, migrateDevDatabase, openDevDatabase } from '../src/dev-database.ts';
import { openHome } from '../src/home.ts';

async function newHome() {
  const directory = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return openHome(directory, interfaceNames);
}

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  return () => database.drop();
});

test('claims an empty database for a home, and recognizes it later', async () => {
  const home = await newHome();
  const state = await claimDatabase(testService, database.databaseUrl, home);
  await migrate(database.databaseUrl, testService);
  expect(await claimDatabase(testService, database.databaseUrl, home)).toBe(state);
});

test('creates the tables of a given database in DATABASE_SCHEMA, and later finds them where they are', async () => {
  const given = { DATABASE_URL: database.databaseUrl };
  const context = { service: testService, gidNamespace: testService.names.gidNamespace };
  const migrated = [];
  for (const config of [{ ...given, DATABASE_SCHEMA: 'public' }, given]) {
    const opened = await openDevDatabase({ service: testService, interfaceNames }, config, await newHome());
    migrated.push(await migrateDevDatabase(context, opened, () => {}));
  }
  const [{ url } = { url: '' }] = migrated;
  expect(migrated).toEqual([
    { schema: 'public', url },
    { schema: 'public', url },
  ]);
  expect(await runOnce(url, 'select current_schema() as schema')).toEqual([{ schema: 'public' }]);
});

test('rejects a database that is not empty, and does not change it', async () => {
  const run = (statement: string) => runOnce(database.databaseUrl, statement);
  await run('create table theirs ()');
  await expect(claimDatabase(testService, database.databaseUrl, await newHome())).rejects.toThrow('is not empty');
  expect(await run(`select from pg_namespace where nspname = 'deedwire_dev'`)).toEqual([]);
});

test('rejects the database of another home', async () => {
  await claimDatabase(testService, database.databaseUrl, await newHome());
  await expect(claimDatabase(testService, database.databaseUrl, await newHome())).rejects.toThrow('is not empty');
});

test('rejects the database of another service', async () => {
  const home = await newHome();
  const state = await claimDatabase(testService, database.databaseUrl, home);
  const credential = { clientId: '', apiKey: '', organizationId: '' };
  state.seed = { tenant: { interfaceName: 'tenant', id: 'gid://service/Tenant/1', credential } };
  await expect(claimDatabase(testService, database.databaseUrl, home)).rejects.toThrow(
    'The database has accounts of the interface tenant, which this service does not have.',
  );
});
