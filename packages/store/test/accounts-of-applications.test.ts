import { gid as formatRecordGid } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { connect, runOnce, untilBlocked } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { grantsToApplication, migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
await migrate(database.databaseUrl, testService);

const createAccount = (externalId: string | null, name: string | null = 'Ada', session = owner) =>
  session.run(`select create_account('customer', $1, $2) as gid`, [externalId, name]);
const organizations = () => owner.run('select id, name from organization order by id');

/** The login of an application, which has nothing but the functions that are made for it. */
async function openApplication() {
  const login = `${new URL(database.databaseUrl).pathname.slice(1)}_shop`;
  await owner.run(`create role ${login} login password 'p'`);
  onTestFinished(async () => void (await owner.run(`drop owned by ${login}; drop role ${login}`)));
  const grants = await withStore(database.databaseUrl, (store) => grantsToApplication(store, login));
  await owner.run(grants.join(''));
  const url = Object.assign(new URL(database.databaseUrl), { username: login, password: 'p' });
  return forTest(connect(url.href));
}

test('`migrate` creates an organization with the name of the service, unless there is one', async () => {
  await migrate(database.databaseUrl, testService);
  expect(await organizations()).toMatchObject([{ name: testService.names.service }]);
  const own = await forTest(createServiceDatabase());
  await runOnce(own.databaseUrl, `insert into organization (name) values ('Harbour')`);
  await migrate(own.databaseUrl, testService);
  expect(await runOnce(own.databaseUrl, 'select name from organization')).toEqual([{ name: 'Harbour' }]);
});

test('of accounts that begin at the same time, each external id is one account of the only organization', async () => {
  const other = await forTest(connect(database.databaseUrl));
  await owner.run('begin');
  const first = await createAccount('c-1');
  const second = createAccount('c-2', 'Bo', other);
  const same = await forTest(connect(database.databaseUrl));
  const repeated = createAccount('c-1', 'Another name', same);
  await second;
  await untilBlocked(await forTest(connect(database.databaseUrl)), 1);
  await owner.run('commit');
  expect(await repeated).toEqual(first);
  expect(await owner.run('select external_id, name, interface::text from account order by external_id')).toEqual([
    { external_id: 'c-1', name: 'Ada', interface: 'customer' },
    { external_id: 'c-2', name: 'Bo', interface: 'customer' },
  ]);
});

test('an account of a transaction that is rolled back leaves its external id to another transaction that waits', async () => {
  const [one, other] = [await forTest(connect(database.databaseUrl)), await forTest(connect(database.databaseUrl))];
  await one.run('begin');
  const [{ gid: undone } = {}] = await createAccount('c-undone', 'Ada', one);
  const waiting = createAccount('c-undone', 'Bo', other);
  await untilBlocked(owner, 1);
  await one.run('rollback');
  const [{ gid } = {}] = await waiting;
  expect(gid).not.toBe(undone);
  const named = await owner.run(`select name, gid('Customer', id::text) from account where external_id = 'c-undone'`);
  expect(named).toEqual([{ name: 'Bo', gid }]);
});

test('external ids are compared by their bytes', async () => {
  const texts = [
    '\u00E9',
    'e\u0301',
    'E\u0301',
    'a',
    'a ',
    ' a',
    'a\n',
    'a\u200B',
    'A',
    '\u{1F3E1}',
    'GID://service/Customer/1',
  ];
  const gids = new Set<unknown>();
  for (const text of texts) gids.add((await createAccount(text))[0]?.['gid']);
  expect(gids.size).toBe(texts.length);
  for (const text of texts) gids.add((await createAccount(text))[0]?.['gid']);
  expect(gids.size).toBe(texts.length);
});

test.each(['repeatable read', 'serializable'])(
  'at %s, a repeated account is found, or fails with 40001',
  async (level) => {
    const session = await forTest(connect(database.databaseUrl));
    await session.run(`begin isolation level ${level}; select from account`);
    await createAccount(`c-${level}`);
    await expect(createAccount(`c-${level}`, 'Ada', session)).rejects.toMatchObject({ code: '40001' });
    await session.run('rollback');
    expect(await createAccount(`c-${level}`, 'Ada', session)).toHaveLength(1);
  },
);

test.each([
  ['no external id', null, 'Ada', 'gid://'],
  ['an empty one', '', 'Ada', 'gid://'],
  ['one that looks like a global identifier', 'gid://service/Customer/1', 'Ada', 'only ever a global identifier'],
  ['a long one', 'é'.repeat(101), 'Ada', '200 bytes'],
  ['no name', 'c-3', null, '200 characters'],
  ['a blank name', 'c-3', ' \t', '200 characters'],
])('refuses %s, with a hint', async (_, externalId, name, hint) => {
  await expect(createAccount(externalId, name)).rejects.toMatchObject({
    code: 'DW007',
    hint: expect.stringContaining(hint),
  });
});

test('an account of a database without an organization is refused', async () => {
  const own = await forTest(createServiceDatabase());
  await migrate(own.databaseUrl, testService, { organization: null });
  await expect(runOnce(own.databaseUrl, `select create_account('customer', 'c-1', 'Ada')`)).rejects.toMatchObject({
    code: 'DW007',
    hint: expect.stringContaining('database migrate'),
  });
});

test('an account of a service with several organizations names one', async () => {
  await owner.run('begin');
  const [{ gid = '' } = {}] = (await owner.run(
    `insert into organization (name) values ('Other') returning gid('Organization', id::text)`,
  )) as { gid?: string }[];
  await owner.run('savepoint s');
  await expect(createAccount('c-4')).rejects.toMatchObject({ code: 'DW007', hint: expect.stringContaining('list') });
  await owner.run('rollback to savepoint s');
  await owner.run(`select create_account('customer', 'c-4', 'Ada', $1)`, [gid]);
  expect(
    await owner.run(`select gid('Organization', organization_id::text) from account where external_id = 'c-4'`),
  ).toEqual([{ gid }]);
  const [, number = ''] = /(\d+)$/.exec(gid) ?? [];
  await owner.run('savepoint s');
  for (const unknown of [
    'gid://service/Organization/1',
    'gid://service/Organization/9999999999999999999',
    `gid://service/Organization/0${number}`,
    `gid://service/Organization/a/${number}`,
    `gid://service/Customer/${number}`,
    `gid://other/Organization/${number}`,
    number,
  ]) {
    const refused = owner.run(`select create_account('customer', 'c-5', 'Ada', $1)`, [unknown]);
    await expect(refused).rejects.toMatchObject({
      code: 'DW007',
      message: expect.stringContaining('There is no organ'),
    });
    await owner.run('rollback to savepoint s');
  }
  await owner.run('rollback');
});

const lastEntryOf = (interfaceName: string) =>
  owner.run(
    `select action, login, actor, details ->> 'application' as application from audit_entry
     where interface = $1 order by at desc, number desc limit 1`,
    [interfaceName],
  );

test('the entry of the audit log says that an application has created the account, and others do not say so', async () => {
  const session = await openApplication();
  await session.run(`select create_account('customer', 'c-6', 'Ada')`);
  expect(await lastEntryOf('customer')).toEqual([
    { action: 'customer.create', login: expect.stringMatching(/_shop$/), actor: null, application: 'create_account' },
  ]);
  const operator = await forTest(connect(await database.urlFor('operator')));
  await operator.run(`
    begin; select set_config('deedwire.audit_claim', '{"application": "create_account"}', true);
    insert into account (interface, organization_id, name) select 'supplier', id, 'Bo' from organization limit 1; commit`);
  expect(await lastEntryOf('supplier')).toMatchObject([{ action: 'supplier.create', application: null }]);
});

test('the entry says so, too, for a login that takes the role of the application, or calls a function of it', async () => {
  const session = await openApplication();
  const name = new URL(database.databaseUrl).pathname.slice(1);
  await owner.run(`create role ${name}_pool login noinherit password 'p' in role ${name}_shop;
    create schema shop authorization ${name}_shop; grant usage on schema shop to public`);
  onTestFinished(async () => void (await owner.run(`drop schema shop cascade; drop role ${name}_pool`)));
  await session.run(`create function shop.sign_up() returns text language sql security definer
    begin atomic select public.create_account('customer', 'c-8', 'Bo'); end`);
  const url = Object.assign(new URL(database.databaseUrl), { username: `${name}_pool`, password: 'p' });
  const pool = await forTest(connect(url.href));
  const entry = { login: `${name}_pool`, application: 'create_account' };
  await pool.run('select shop.sign_up()');
  expect(await lastEntryOf('customer')).toMatchObject([entry]);
  await pool.run(`set role ${name}_shop; select create_account('customer', 'c-9', 'Bo')`);
  expect(await lastEntryOf('customer')).toMatchObject([entry]);
  await pool.run(`select create_portal_link('customer', 'c-9', 'user-1')`);
  expect(await lastEntryOf('customer')).toMatchObject([{ ...entry, application: 'create_portal_link' }]);
});

test('wakes the worker of an account, and no one in a transaction that only appends', async () => {
  const listener = await forTest(new Client({ connectionString: database.databaseUrl }));
  await listener.connect();
  const heard: unknown[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload));
  await listener.query('listen deedwire_wake');
  const [{ gid = '', shard = '' } = {}] = (await owner.run(
    `select gid('Customer', id::text), (id & 63)::text as shard from account where external_id = 'c-1'`,
  )) as { gid?: string; shard?: string }[];
  const session = await openApplication();
  await session.run(
    `select append_event('order.placed', 'c-1', '{"order": {"id": "1", "item": "Tea", "note": null}, "placedAt": ""}')`,
  );
  await session.run(`select wake('c-1')`);
  await session.run('select wake($1)', [gid]);
  await expect.poll(() => heard).toEqual([shard, shard]);
  for (const unknown of ['c-0', 'gid://service/Customer/1', 'gid://service/Other/1', null])
    await expect(session.run('select wake($1)', [unknown])).rejects.toMatchObject({ code: 'DW002' });
});

const gidOf = async (type: string | null, id: string | null) =>
  (await owner.run('select gid($1, $2) as gid', [type, id]))[0]?.['gid'];

test('global identifiers of records are those of packages/core', async () => {
  expect(await gidOf('Order', 'SO-2026/ü~!')).toBe('gid://service/Order/SO-2026%2F%C3%BC~%21');
  expect(await gidOf('Order', '0B9F8C2E-8f8b-4b43-9a53-2f7d0e6f1c1a')).toBe(
    'gid://service/Order/0b9f8c2e-8f8b-4b43-9a53-2f7d0e6f1c1a',
  );
  for (const id of ['4711', `!'()*-._~ %`, 'é\n🏡', 'gid://service/Order/1'])
    expect(await gidOf('Order', id)).toBe(formatRecordGid('service', 'Order', id));
  for (const [type, id] of [
    ['order', '1'],
    ['Order', ''],
    [null, '1'],
    ['Order', null],
  ] as const)
    await expect(gidOf(type, id)).rejects.toThrow('No global identifier');
});
