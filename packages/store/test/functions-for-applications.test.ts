import { testService } from '@deedwire/core/test-service';
import { connect, type Connection } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, onTestFinished, test } from 'vitest';
import { grantsToApplication, migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
const name = new URL(database.databaseUrl).pathname.slice(1);

/** A function for applications, as a later migration makes one. */
const seed = (text: string) => `
  create or replace function ${text}
  language sql security definer set search_path = pg_catalog, pg_temp as $$ select count(*) from public.account $$`;
const register = (signature: string) => `select for_applications('${signature}')`;

/** All that a role may do, beyond what every login may. */
const rights = `
  with role as (select to_regrole($1)::oid as id), granted as (
    select 'schema ' || nspname as object, nspacl as acl from pg_namespace
    union all select oid::regclass::text, relacl from pg_class
    union all select attrelid::regclass || '.' || attname, attacl from pg_attribute
    union all select oid::regprocedure::text, proacl from pg_proc
  )
  select lower(x.privilege_type) || ' on ' || object as right from role, granted, aclexplode(acl) x where x.grantee = role.id
  union all
  select 'policy ' || polname from role, pg_policy where polroles @> array[role.id]
  union all
  select 'member of ' || roleid::regrole from role, pg_auth_members where member = role.id
  order by 1`;

const rightsOf = async (role: string): Promise<unknown[]> =>
  (await owner.run(rights, [role])).map((row) => row['right']);

const grantsTo = (login: string): Promise<string[]> =>
  withStore(database.databaseUrl, (store) => grantsToApplication(store, login));

async function createLogin(kind: string): Promise<{ login: string; open: () => Promise<Connection> }> {
  const login = `${name}_${kind}`;
  await owner.run(`create role ${login} login password 'p'`);
  onTestFinished(async () => {
    await owner.run(`drop owned by ${login}; drop role ${login}`);
  });
  const url = Object.assign(new URL(database.databaseUrl), { username: login, password: 'p' });
  return { login, open: async () => forTest(connect(url.href)) };
}

const createPrefix = (prefix: string) =>
  owner.run(`create or replace function role_prefix() returns text language sql immutable return '${prefix}'`);

/** Gives the names of the roles of this database a prefix. */
async function setPrefix(prefix: string): Promise<void> {
  await createPrefix(prefix);
  onTestFinished(async () => {
    await createPrefix('');
    await owner.run(`drop owned by ${prefix}application; drop role ${prefix}application`);
  });
}

test('every login loses the right to call a function that is made for applications', async () => {
  await owner.run(`${seed('seeded_open(a int) returns bigint')}; ${register('seeded_open(int)')}`);
  expect(await owner.run(`select has_function_privilege('public', 'seeded_open(int)', 'execute') as may`)).toEqual([
    { may: false },
  ]);
  expect(await owner.run('select signature from application_function')).toContainEqual({
    signature: 'seeded_open(integer)',
  });
  await owner.run('drop function seeded_open; delete from application_function');
});

test.each([
  ['without the rights of its owner', 'create function refused() returns int language sql as $$ select 1 $$'],
  [
    'with the search path of the caller',
    'create function refused() returns int language sql security definer as $$ select 1 $$',
  ],
  [
    'in another schema',
    'create schema other; create function other.refused() returns int language sql security definer set search_path = pg_catalog, pg_temp as $$ select 1 $$',
  ],
])('refuses to make a function %s one for applications', async (_, sql) => {
  await owner.run('begin');
  await owner.run(sql);
  await owner.run('set local search_path = public, other');
  await expect(owner.run(register('refused()'))).rejects.toThrow('with `security definer` and `set search_path');
  await owner.run('rollback');
});

describe('where the names of roles have a prefix', () => {
  test('the login of an application calls these functions, and nothing else', async () => {
    const prefix = `${name}_x_`;
    await setPrefix(prefix);
    await owner.run(`${seed('seeded(a text, b json default null) returns bigint')}; ${register('seeded(text, json)')}`);
    await migrate(database.databaseUrl, testService);
    expect(await rightsOf(`${prefix}application`)).toEqual(['execute on seeded(text,json)', 'usage on schema public']);
    const { login, open } = await createLogin('shop');
    const session = await open();
    await expect(session.run(`select seeded('a')`)).rejects.toThrow('permission denied for function seeded');
    expect(await grantsTo(login)).toEqual([`grant ${prefix}application to "${login}";`]);
    await owner.run((await grantsTo(login)).join(''));
    expect(await session.run(`select seeded('a')`)).toEqual([{ seeded: '0' }]);
    for (const [statement, message] of [
      ['select * from account', 'permission denied for table account'],
      ['select new_record_id()', 'permission denied for function new_record_id'],
      ['select * from application_function', 'permission denied for table application_function'],
      ['create table public.own ()', 'permission denied for schema public'],
    ] as const)
      await expect(session.run(statement)).rejects.toThrow(message);
  });

  test('a later migration that adds a function gives it to the role, and one that has dropped one stops nothing', async () => {
    const prefix = `${name}_y_`;
    await setPrefix(prefix);
    await owner.run(`${seed('gone() returns bigint')}; ${register('gone()')}; drop function gone`);
    await owner.run(`${seed('added(a int) returns bigint')}; ${register('added(int)')}`);
    await migrate(database.databaseUrl, testService);
    expect(await rightsOf(`${prefix}application`)).toContain('execute on added(integer)');
  });

  test('a role of the name that can log in does not become that of applications', async () => {
    const prefix = `${name}_z_`;
    await setPrefix(prefix);
    await owner.run(`create role ${prefix}application login`);
    await expect(migrate(database.databaseUrl, testService)).rejects.toThrow(
      `The role ${prefix}application exists and is no group role of applications`,
    );
  });
});

test('where they have none, the login gets the same by its name, and no role of the cluster may use the schema', async () => {
  await migrate(database.databaseUrl, testService);
  expect(await owner.run(`select from pg_roles where rolname = 'application'`)).toEqual([]);
  const granted = `
    select x.grantee::regrole::text as role
    from pg_namespace n, aclexplode(n.nspacl) x
    where n.nspname = 'public' and x.grantee not in (0, n.nspowner)`;
  expect(await owner.run(granted)).toEqual([]);

  await owner.run(`${seed('seeded(a text, b json default null) returns bigint')}; ${register('seeded(text, json)')}`);
  const { login, open } = await createLogin('shop');
  const grants = await grantsTo(login);
  expect(grants).toContain(`grant usage on schema public to "${login}";`);
  await owner.run(grants.join(''));
  expect(await rightsOf(login)).toEqual(
    expect.arrayContaining(['execute on seeded(text,json)', 'usage on schema public']),
  );
  const session = await open();
  expect(await session.run(`select seeded('a')`)).toEqual([{ seeded: '0' }]);
  await expect(session.run('select * from account')).rejects.toThrow('permission denied for table account');
});
