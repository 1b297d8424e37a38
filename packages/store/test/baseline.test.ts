import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { findUnregistered, migrate } from '../src/index.ts';
import { withStore } from './support/database.ts';

test('a new database can be in another schema', async () => {
  const database = await forTest(createTestDatabase({ template: 'empty', prepare: async () => {} }));
  const owner = await forTest(connect(database.databaseUrl));
  await owner.run('create schema "our shop"');
  const url = new URL(database.databaseUrl);
  url.searchParams.set('options', '-c search_path="our\\ shop"');
  expect(await migrate(url.href, testService)).toMatchObject({ appliedOfApplication: ['0001-orders'] });
  expect(await withStore(url.href, (store) => findUnregistered(store, testService))).toEqual([]);
  // Without the migrations of the application.
  expect(
    await owner.run(`
      select 'relation' as kind, relname as name from pg_class where relnamespace = 'public'::regnamespace
      union all
      select 'routine', proname from pg_proc
      where pronamespace = 'public'::regnamespace
        or pronamespace = '"our shop"'::regnamespace and concat(prosrc, pg_get_function_sqlbody(oid), proconfig::text) ~ '(?<!from )\\ypublic[."'']|{schema'`),
  ).toEqual([]);
});
