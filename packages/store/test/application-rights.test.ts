import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineService } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { connect, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { createLoginSql, findUnregistered, migrate } from '../src/index.ts';
import { withStore } from './support/database.ts';
import { createEmptyDatabase, dropRoles, newRolePrefix } from './support/placed-database.ts';
import { problemsOf } from './support/rights.ts';

const folder = await mkdtemp(join(tmpdir(), 'rights-'));
await forFile({ close: () => rm(folder, { recursive: true }) });
const write = (file: string, text: string) => writeFile(join(folder, file), text);

const shop = defineService({
  names: testService.names,
  interfaces: { customer: { title: 'Customer', account: 'Customer' } },
  tables: { order: {} },
  migrations: pathToFileURL(folder),
});
await write(
  '0001-orders.sql',
  `create sequence "Number";
  create table "order" (
    id bigint primary key default new_record_id(), account_id bigint not null, "user" text,
    interface interface_name not null default 'customer'
  );
  select own_table('order', 'customer', 'select, insert');
  do $$begin
    execute format('grant update ("user") on "order" to %I', role_of_interface('customer'));
    execute format('grant usage on sequence "Number" to %I', role_of_interface('customer'));
  end$$`,
);

const rolePrefix = newRolePrefix();
const role = `${rolePrefix}customer_api`;
const login = `${rolePrefix}login`;
const schema = 'Deed wire';
const database = await forFile(createEmptyDatabase());
await migrate(database.databaseUrl, shop, { schema, rolePrefix });
await database.run(createLoginSql(login, 'p', role, { database: database.name, schema, rolePrefix }));
await forFile({ close: () => dropRoles(database, rolePrefix) });
const url = Object.assign(new URL(database.databaseUrl), { username: login, password: 'p' }).href;

/** Its search path does not lead to the tables. */
const owner = await forFile(connect(database.databaseUrl));

const rights = [
  'usage on sequence "Number"',
  'insert on "order"',
  'select on "order"',
  'update ("user") on "order"',
] as const;

const problems = () => problemsOf(url, 'customer_api', shop);

beforeEach(async () => {
  await write('rights.json', JSON.stringify({ customer_api: rights }));
});

test('an app lacks a right that the migrations of its application grant, until the printed statement has run', async () => {
  expect(await problems()).toEqual([]);
  for (const right of [...rights, 'select on account', 'execute on routine new_record_id()']) {
    const [object = '', privilege = ''] = right.split(' on ').toReversed();
    const place = object.replace(/^(sequence |routine )?/, `$1"${schema}".`);
    const statement = `grant ${privilege} on ${place} to ${role}`;
    await owner.run(statement.replace('grant', 'revoke').replace(' to ', ' from '));
    const [problem = missing()] = await problems();
    expect(problem).toBe(`the group role ${role} lacks the right "${right}"; run: ${statement}`);
    await owner.run(problem.split('; run: ')[1] ?? missing());
    expect(await problems()).toEqual([]);
  }
});

test('an app lacks no right on a table that was dropped, which another problem names', async () => {
  await write('rights.json', JSON.stringify({ customer_api: [...rights, 'select on gone'] }));
  expect(await problems()).toEqual([]);
});

test('rights are not compared with those of another release of the application', async () => {
  await write('rights.json', JSON.stringify({ customer_api: [...rights, 'delete on "order"'] }));
  expect(await problems()).toHaveLength(1);
  await write('0002-later.sql', `grant delete on "order" to ${role}`);
  expect(await problems()).toEqual([]);
  expect(await withStore(url, (store) => findUnregistered(store, shop))).toEqual([
    'the database lacks migrations of the application: 0002-later; run: deedwire-operator database migrate',
  ]);
  await rm(join(folder, '0002-later.sql'));
  await owner.run(`insert into "${schema}".app_migration (name, checksum) values ('0002-later', '')`);
  expect(await problems()).toEqual([]);
  await owner.run(`delete from "${schema}".app_migration where name = '0002-later'`);
  expect(await problems()).toHaveLength(1);
});

test('an application without the file has no rights to compare', async () => {
  await owner.run(`revoke select on "${schema}"."order" from ${role}`);
  expect(await problems()).toHaveLength(1);
  await rm(join(folder, 'rights.json'));
  expect(await problems()).toEqual([]);
});
