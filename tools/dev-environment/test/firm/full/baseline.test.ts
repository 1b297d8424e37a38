import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { firm } from '@deedwire/firm';
import { applyMigrations, migrate, readMigrations } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test, vi } from 'vitest';
import { workspaceRoot } from '../../../src/workspace.ts';

const readBaseline = () => readFile(join(workspaceRoot, 'packages/store/migrations/0110-baseline.sql'), 'utf8');

async function startServer(): Promise<string> {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  return server.url;
}

async function createDatabase(serverUrl: string, name: string, options = ''): Promise<string> {
  await withClient(serverUrl, (client) => client.query(`create database ${name} ${options}`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

// Of Debian.
const folder15 = '/usr/lib/postgresql/15/bin';
const isWithout15 = !existsSync(join(folder15, 'pg_dump')) && process.env['CI'] !== 'true';

/** The lines that say something about the schema, apart from partitions of a day or a month. */
async function dumpSchema(databaseUrl: string): Promise<string[]> {
  const excluded = [`*_${'[0-9]'.repeat(8)}`, 'audit_entry_[0-9]*'].map((pattern) => `--exclude-table=${pattern}`);
  const { stdout } = await promisify(execFile)(join(folder15, 'pg_dump'), ['--schema-only', ...excluded, databaseUrl], {
    maxBuffer: 20_000_000,
  });
  const lines = stdout
    .replaceAll(/hashint8extended\(ms, '-?\d+'::bigint\)/g, 'hashint8extended(ms, seed)')
    .split('\n')
    .filter((line) => line !== '' && !/^(?:--|\\)/.test(line));
  // Roles of an older database got their rights in another order.
  return [
    ...lines.filter((line) => !line.startsWith('GRANT')),
    ...lines.filter((line) => line.startsWith('GRANT')).toSorted(),
  ];
}

/** The rows of the tables that migrations and the registration of a service write. */
async function readRows(databaseUrl: string): Promise<unknown[]> {
  const tables = [
    'audit_action',
    'event_type',
    'interface',
    'own_sequence',
    'own_table',
    'person_table',
    'shared_policy',
    'shared_right',
  ];
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      tables.map((table) => `select '${table}' as table, t::text as row from ${table} t`).join(' union all ') +
        ' order by 1, 2',
    );
    return rows;
  });
}

test.skipIf(isWithout15)('a database that began with the baseline has the schema of an older one', async () => {
  vi.stubEnv('TEST_POSTGRES_BIN', folder15);
  const serverUrl = await startServer();
  const [older, own] = [await createDatabase(serverUrl, 'older'), await createDatabase(serverUrl, 'own')];
  const chain = (await readMigrations()).filter(({ isBaseline }) => !isBaseline);
  await applyMigrations(older, chain, {});
  expect(await migrate(older, firm)).toMatchObject({ applied: [], addedInterfaces: [], appliedOfApplication: [] });
  expect(await migrate(own, firm)).toMatchObject({
    addedInterfaces: ['lender', 'partner'],
    appliedOfApplication: ['0001-law-firm'],
  });
  const [schemaOfOlder, schema] = [await dumpSchema(older), await dumpSchema(own)];
  expect(schema.length).toBeGreaterThan(5_000);
  expect(schema).toEqual(schemaOfOlder);
  expect(await readRows(own)).toEqual(await readRows(older));
});

/** The baseline with the placeholders that \`migrate\` fills. */
const fill = (text: string, schema: string) =>
  text.replaceAll('{schema}', schema).replaceAll('{schema_text}', `'${schema}'`);

test.each([true, false])('an owner applies the baseline in any schema, with roles: %s', async (mayCreateRoles) => {
  const serverUrl = await startServer();
  await withClient(serverUrl, (client) =>
    client.query(`create role shop_owner login password 'x' ${mayCreateRoles ? 'createrole' : ''}`),
  );
  const url = new URL(await createDatabase(serverUrl, 'shop', 'owner shop_owner'));
  url.username = 'shop_owner';
  url.password = 'x';
  const owner = await forTest(connect(url.href));
  await owner.run('create schema shop; set search_path = shop; create table schema_migration (name text)');
  await owner.run(`set deedwire.role_prefix = 'shop_'; begin; ${fill(await readBaseline(), 'shop')}; commit`);
  await owner.run(`alter type interface_name add value 'customer'`);
  await owner.run(`select add_interface('customer', 'Customer')`);
  await owner.run(`
    create table customer_order (id bigint primary key default new_record_id(), account_id bigint not null, interface interface_name not null);
    select own_table('customer_order', 'customer', 'select');
    with o as (insert into organization (name) values ('Shop') returning id)
    insert into account (interface, organization_id, name) select 'customer', id, 'Ada' from o;
    insert into customer_order (account_id, interface) select id, interface from account`);

  const roles = ['shop_customer_api', 'shop_operator', 'shop_webhook_worker'];
  expect(
    await owner.run(`select rolname as role from pg_roles where rolname !~ '^pg_|^postgres$|^shop_owner$' order by 1`),
  ).toEqual(mayCreateRoles ? roles.map((role) => ({ role })) : []);
  const [found] = await owner.run(`
    select
      (select count(distinct polroles)::int from pg_policy) as policies,
      (select count(distinct grantee)::int from pg_class, aclexplode(relacl) where relnamespace = 'shop'::regnamespace and grantee <> relowner) as grants,
      array(
        select proname::text from pg_proc where pronamespace = 'shop'::regnamespace and has_function_privilege('public', oid, 'execute')
      ) as of_public,
      (select count(*)::int from pg_class where relnamespace = 'public'::regnamespace) as elsewhere`);
  const count = mayCreateRoles ? roles.length : 0;
  expect(found).toEqual({ policies: count, grants: count, of_public: [], elsewhere: 0 });
});
