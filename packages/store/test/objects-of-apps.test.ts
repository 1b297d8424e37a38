import { testService } from '@deedwire/core/test-service';
import { connect } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

async function createDatabase() {
  const database = await forTest(createServiceDatabase());
  const owner = await forTest(connect(database.databaseUrl));
  return {
    owner,
    /** A session of a login in the group role. */
    login: async (role: string) => forTest(connect(await database.urlFor(role))),
    nameOf: async (role: string) => new URL(await database.urlFor(role)).username,
    migrate: (): Promise<string> => migrate(database.databaseUrl, testService).then(() => 'applied', String),
  };
}

const mayCreate = `select has_schema_privilege('public', oid, 'create') as may from pg_namespace where nspname = $1`;

test('a database whose schemas let everybody create is closed in that of the tables, and stays as it is elsewhere', async () => {
  const { owner, migrate: run } = await createDatabase();
  await owner.run('grant create on schema public to public; create schema shop; grant create on schema shop to public');
  expect(await run()).toBe('applied');
  expect(await owner.run(mayCreate, ['public'])).toEqual([{ may: false }]);
  expect(await owner.run(mayCreate, ['shop'])).toEqual([{ may: true }]);
});

test('the login of an application owns forty tables, and stops no migration', async () => {
  const { owner, migrate: run } = await createDatabase();
  const [row] = await owner.run('select current_database() as name');
  const name = `${String(row?.['name'])}_shop`;
  onTestFinished(async () => {
    await owner.run(`drop owned by ${name} cascade; drop role ${name}`);
  });
  await owner.run(
    `create role ${name} login; create schema shop authorization ${name}; set role ${name};
     do $$ begin for i in 1..40 loop execute format('create table shop.t%s ()', i); end loop; end $$;
     create function shop.now() returns int return 1; reset role`,
  );
  expect(await run()).toBe('applied');
});

describe('a login in the group role of an app', () => {
  test('may own objects in another schema, which the search path of migrations does not contain', async () => {
    const { owner, login, nameOf, migrate: run } = await createDatabase();
    const name = await nameOf('webhook_worker');
    await owner.run(`create schema shop authorization "${name}"`);
    await (
      await login('webhook_worker')
    ).run('create table shop.customer (); create function shop.f() returns int return 1');
    expect(await run()).toBe('applied');
    const [row] = await owner.run('select quote_ident(current_database()) as name');
    await owner.run(`alter database ${String(row?.['name'])} set search_path = public, shop`);
    expect(await run()).toBe('applied');
  });

  test.each(['customer_api', 'supplier_api', 'operator', 'webhook_worker'])(
    'owns nothing beside the tables: %s',
    async (role) => {
      const { owner, login, nameOf, migrate: run } = await createDatabase();
      const name = await nameOf(role);
      await owner.run('grant create on schema public to public');
      await (await login(role)).run('create table loot ()');
      expect(await run()).toContain(`: ${name} owns table public.loot. No release of an app`);
      await owner.run('drop table loot');
      expect(await run()).toBe('applied');
    },
  );
});
