import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { runOnce } from '@deedwire/testing';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { claimDatabase } from '../src/dev-database.ts';
import { openHome } from '../src/home.ts';

async function newHome() {
  const directory = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return openHome(directory);
}

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  return () => database.drop();
});

test('claims an empty database for a home, and recognizes it later', async () => {
  const home = await newHome();
  const state = await claimDatabase(database.databaseUrl, home);
  await migrate(database.databaseUrl, testService);
  expect(await claimDatabase(database.databaseUrl, home)).toBe(state);
});

test('rejects a database that is not empty, and does not change it', async () => {
  const run = (statement: string) => runOnce(database.databaseUrl, statement);
  await run('create table theirs ()');
  await expect(claimDatabase(database.databaseUrl, await newHome())).rejects.toThrow('is not empty');
  expect(await run(`select from pg_namespace where nspname = 'deedwire_dev'`)).toEqual([]);
});

test('rejects the database of another home', async () => {
  await claimDatabase(database.databaseUrl, await newHome());
  await expect(claimDatabase(database.databaseUrl, await newHome())).rejects.toThrow('is not empty');
});
