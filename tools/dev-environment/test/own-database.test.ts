import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interfaceNames, testService } from '@deedwire/core/test-service';
import { claimDatabase, migrateDevDatabase, openDevDatabase } from '@deedwire/development';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { listen, runOnce } from '@deedwire/testing';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
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
    const opened = await openDevDatabase(testService, config, await newHome());
    migrated.push(await migrateDevDatabase(context, opened, () => {}));
  }
  const [{ url } = { url: '' }] = migrated;
  expect(migrated).toEqual([
    { schema: 'public', url },
    { schema: 'public', url },
  ]);
  expect(await runOnce(url, 'select current_schema() as schema')).toEqual([{ schema: 'public' }]);
});

test('starts the embedded server of a home on its last port, or on another one if that is taken', async () => {
  const home = await newHome();
  const open = () => openDevDatabase(testService, {}, home);
  const first = await open();
  await first.close();
  const second = await open();
  expect(second.url).toBe(first.url);
  await second.close();
  const holder = await listen(createServer(), Number(new URL(first.url).port));
  const third = await open();
  expect(third.url).not.toBe(first.url);
  await third.close();
  await holder.close();
});

test('works beside the tables of an application, and changes none of them', async () => {
  const run = (statement: string) => runOnce(database.databaseUrl, statement);
  await run('create table account (email text); create table schema_migration (version int)');
  const objects = `
    select c.oid::regclass::text as name, c.xmin::text, n.nspname as schema
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`;
  const before = await run(objects);
  await claimDatabase(testService, database.databaseUrl, await newHome());
  const opened = await openDevDatabase(testService, { DATABASE_URL: database.databaseUrl }, await newHome());
  const context = { service: testService, gidNamespace: testService.names.gidNamespace };
  await migrateDevDatabase(context, opened, () => {});
  const after = await run(objects);
  expect(after.filter(({ schema }) => schema === 'public')).toEqual(before);
  expect(new Set(after.map(({ schema }) => schema))).toEqual(new Set(['public', 'deedwire', 'deedwire_dev']));
});

test('rejects a database that was migrated otherwise, and does not change it, unless --existing is passed', async () => {
  await migrate(database.databaseUrl, testService, { schema: 'shop_webhooks' });
  const claim = (existing: boolean, home: Awaited<ReturnType<typeof newHome>>) =>
    claimDatabase(testService, database.databaseUrl, home, { existing });
  await expect(claim(false, await newHome())).rejects.toThrow(
    /^The database 127\.0\.0\.1:\d+\/\w+ was migrated, and not by .* pass --existing/,
  );
  expect(await runOnce(database.databaseUrl, `select from pg_namespace where nspname = 'deedwire_dev'`)).toEqual([]);
  const home = await newHome();
  const state = await claim(true, home);
  expect(await claim(false, home)).toBe(state);
});

test('rejects the database that another home has migrated', async () => {
  await claimDatabase(testService, database.databaseUrl, await newHome());
  await migrate(database.databaseUrl, testService);
  await expect(claimDatabase(testService, database.databaseUrl, await newHome())).rejects.toThrow('was migrated');
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
