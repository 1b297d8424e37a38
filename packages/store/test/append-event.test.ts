import { defineEvent, defineService, gid as formatRecordGid, readEventRecord, withRenderers } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { connect, type Connection, seededRandom } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { DatabaseError } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { grantsToApplication, migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

const released = { version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null } as const;

const contractOf = (type: string, interfaces: readonly string[]) => ({
  type,
  description: type,
  interfaces,
  versions: [{ ...released, data: z.object({}) }],
});

const item = z.object({ item: z.object({ id: z.string(), note: z.string().optional() }) });
const eventOf = (type: string, record?: string) =>
  withRenderers(
    defineEvent(type, {
      record: record === undefined ? null : { type: record, id: ({ item: { id } }) => id },
      snapshot: item,
      sample: () => ({ item: { id: '1', note: '' } }),
    }),
    { '2026-11-01': () => ({}) },
  );

const service = defineService({
  names: testService.names,
  interfaces: testService.interfaces,
  contracts: [
    contractOf('webhook.test', ['customer']),
    contractOf('item.sold', ['customer']),
    contractOf('item.shared', ['customer', 'supplier']),
    contractOf('item.counted', ['customer']),
    contractOf('order.placed', ['customer']),
  ],
  events: [
    eventOf('item.sold', 'Item'),
    eventOf('item.shared'),
    eventOf('item.counted'),
    eventOf('order.placed', 'Order'),
  ],
  tables: {
    customer_order: { persons: { record: 'Order', noun: 'order', address: 'buyer_email', columns: ['note'] } },
  },
});

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
await migrate(database.databaseUrl, service);

const [{ gid = '' } = {}] = (await owner.run(
  `select create_account('customer', 'c-1', 'Ada') as gid, create_account('supplier', 's-1', 'Bo')`,
)) as { gid?: string }[];
const accountId = gid.slice(gid.lastIndexOf('/') + 1);

const sold = { item: { id: '1' } };

/** A snapshot of as many bytes, with texts of several bytes. */
const ofBytes = (bytes: number): string => {
  const empty = JSON.stringify({ ...sold, note: '' });
  const left = bytes - Buffer.byteLength(empty);
  return empty.replace('""}', `"${'🏡'.repeat(Math.floor(left / 4))}${'a'.repeat(left % 4)}"}`);
};

const append = async (
  type: string,
  account: string | null,
  snapshot: unknown = sold,
  record: string | null = null,
  session: Connection = owner,
): Promise<string> => {
  const text = snapshot === null ? null : typeof snapshot === 'string' ? snapshot : JSON.stringify(snapshot);
  const [row] = await session.run('select append_event($1, $2, $3, $4) as id', [type, account, text, record]);
  return String(row?.['id']);
};

const eventOfId = async (id: string): Promise<unknown> =>
  (
    await owner.run(
      `select e.account_id, e.interface::text, event_type, snapshot::text, record_id, is_test
       from webhook_event e join webhook_event_queue q on q.event_id = e.id where e.id = $1`,
      [id],
    )
  )[0];

test('appends an event for the account of an external id, or of a global identifier, as text of the caller', async () => {
  const text = '{"item": {"id": "1"},   "extra": [1.50]}';
  const stored = { account_id: accountId, interface: 'customer', event_type: 'item.sold', snapshot: text };
  for (const account of ['c-1', gid])
    expect(await eventOfId(await append('item.sold', account, text))).toEqual({
      ...stored,
      record_id: null,
      is_test: false,
    });
});

test.each([
  ['an unknown type', 'item.lost', 'c-1', sold, null, 'DW001', 'database migrate'],
  ['no type', null, 'c-1', sold, null, 'DW001', 'database migrate'],
  ['an event of the platform', 'webhook.test', 'c-1', sold, null, 'DW001', 'database migrate'],
  ['an event of several interfaces', 'item.shared', 'c-1', sold, null, 'DW001', 'one interface'],
  ['an unknown account', 'item.sold', 'c-2', sold, null, 'DW002', 'Create the account first'],
  ['no account', 'item.sold', null, sold, null, 'DW002', 'Create the account first'],
  ['an account of another interface', 'item.sold', 's-1', sold, null, 'DW002', 'Create the account first'],
  ['a number', 'item.sold', accountId, sold, null, 'DW002', 'Create the account first'],
  [
    'the namespace of another',
    'item.sold',
    `gid://other/Customer/${accountId}`,
    sold,
    null,
    'DW002',
    'gid://service/C',
  ],
  ['another type', 'item.sold', `gid://service/Supplier/${accountId}`, sold, null, 'DW002', 'gid://service/Customer/<'],
  ['a gid with more', 'item.sold', `${gid}0x`, sold, null, 'DW002', 'never an external id'],
  ['a gid of no bigint', 'item.sold', 'gid://service/Customer/9999999999999999999', sold, null, 'DW002', 'gid://'],
  ['a gid with zeros', 'item.sold', `gid://service/Customer/0${accountId}`, sold, null, 'DW002', 'gid://'],
  ['no snapshot', 'item.sold', 'c-1', null, null, 'DW003', 'schema of the event'],
  ['a list', 'item.sold', 'c-1', [sold], null, 'DW003', 'schema of the event'],
  ['U+0000 in a text', 'item.sold', 'c-1', String.raw`{"item": {"id": "\u0000"}}`, null, 'DW003', 'U+0000'],
  ['U+0000 in a name', 'item.sold', 'c-1', String.raw`{"item": {"id": "1", "\u0000": 1}}`, null, 'DW003', 'U+0000'],
  ['half of a surrogate pair', 'item.sold', 'c-1', String.raw`{"item": {"id": "\ud83d"}}`, null, 'DW003', 'surrogate'],
  ['a number that is too large', 'item.sold', 'c-1', '{"item": {"id": 1e999999}}', null, 'DW003', '131,072 digits'],
  [
    'a member that a second one of its name lacks',
    'item.sold',
    'c-1',
    '{"item": {"id": "1"}, "item": {}}',
    null,
    'DW003',
    'item.id',
  ],
  ['a missing member', 'item.sold', 'c-1', { id: '1' }, null, 'DW003', 'item, item.id'],
  ['a missing member of one', 'item.sold', 'c-1', { item: {} }, null, 'DW003', 'item, item.id'],
  ['too many bytes', 'item.sold', 'c-1', { ...sold, a: 'é'.repeat(250_000) }, null, 'DW004', '256,000'],
  ['one byte too many', 'item.sold', 'c-1', ofBytes(500_001), null, 'DW004', '256,000'],
  ['a record of an event without one', 'item.counted', 'c-1', sold, '1', 'DW005', 'Omit the record'],
  ['a long record', 'item.sold', 'c-1', sold, 'é'.repeat(101), 'DW005', '200 bytes'],
  ['an empty record', 'item.sold', 'c-1', sold, '', 'DW005', '200 bytes'],
  ['the gid of another type', 'item.sold', 'c-1', sold, 'gid://service/Order/1', 'DW005', 'global identifier'],
  ['the gid of another namespace', 'item.sold', 'c-1', sold, 'gid://other/Item/1', 'DW005', 'global identifier'],
  ['a gid that is not encoded', 'item.sold', 'c-1', sold, 'gid://service/Item/SO/1', 'DW005', 'global identifier'],
  ['a gid without an id', 'item.sold', 'c-1', sold, 'gid://service/Item/', 'DW005', 'global identifier'],
  ['half of an encoded byte', 'item.sold', 'c-1', sold, 'gid://service/Item/a%4', 'DW005', 'global identifier'],
  ['what is no encoded byte', 'item.sold', 'c-1', sold, 'gid://service/Item/%zz', 'DW005', 'global identifier'],
  ['encoded U+0000', 'item.sold', 'c-1', sold, 'gid://service/Item/a%00', 'DW005', 'global identifier'],
  ['encoded bytes that are not UTF-8', 'item.sold', 'c-1', sold, 'gid://service/Item/%C3%28', 'DW005', 'global id'],
  ['an encoded surrogate', 'item.sold', 'c-1', sold, 'gid://service/Item/%ED%A0%80', 'DW005', 'global identifier'],
  ['an encoded text of 201 bytes', 'item.sold', 'c-1', sold, `gid://service/Item/${'%61'.repeat(201)}`, 'DW005', '200'],
  ['an own id of a record of ours', 'order.placed', 'c-1', sold, 'SO-1', 'DW005', 'new_record_id'],
  ['a number that is no bigint', 'order.placed', 'c-1', sold, '9223372036854775808', 'DW005', 'new_record_id'],
])('refuses %s, with an SQLSTATE and a hint', async (_, type, account, snapshot, record, code, hint) => {
  const error: unknown = await append(type as string, account, snapshot, record).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DatabaseError);
  expect(error).toMatchObject({ code, hint: expect.stringContaining(hint) });
});

test('stores 500,000 bytes, and what JSON allows besides', async () => {
  for (const text of [
    ofBytes(500_000),
    '{"item": {"id": "1"}, "item": {"id": "2"}}',
    String.raw`{"item": {"id": "\ud83c\udfe1 \u0001 \\u0000"}, "": null, "a\n": [[[{}]]], "é": 1e400}`,
    `{"item": {"id": "1"}, "deep": ${'['.repeat(1_000)}${']'.repeat(1_000)}}`,
  ])
    expect(await eventOfId(await append('item.sold', 'c-1', text))).toMatchObject({ snapshot: text });
});

test('the hash of a record is that of packages/core, whatever its text', async () => {
  const random = seededRandom(7);
  const letters = [
    ...'aZ09-_.~%/ \n\t\u00A0\u200B\uFEFF"\'\\{}',
    'é',
    'e\u0301',
    'ß',
    'İ',
    'ı',
    'ſ',
    'K',
    '中',
    '🏡',
    '\uFFFD',
  ];
  const hex = [...'0123456789abcdefABCDEF'];
  const from = (pool: readonly string[], length: number): string =>
    Array.from({ length }, () => pool[Math.floor(random() * pool.length)] ?? '').join('');
  const uuid = () => [8, 4, 4, 4, 12].map((length) => from(hex, length)).join('-');
  const texts = [
    ...Array.from({ length: 2_000 }, (_, index) => from(letters, 1 + (index % 50))),
    ...Array.from({ length: 500 }, uuid),
    uuid().slice(1),
    `${uuid()}\n`,
    ` ${uuid()}`,
    `{${uuid()}}`,
    uuid().replaceAll('-', ''),
    uuid().replace('-', '_'),
    'a'.repeat(200),
  ];
  const hashed = await owner.run(
    'select array_agg(record_hash(text) order by number)::text[] as hashes from unnest($1::text[]) with ordinality as t (text, number)',
    [texts],
  );
  const context = { service, gidNamespace: 'service' };
  expect(hashed).toEqual([{ hashes: texts.map((text) => readEventRecord(context, 'Item', text)?.id) }]);
});

test('a refused event leaves a transaction with a savepoint usable', async () => {
  await owner.run('begin; savepoint s');
  await expect(append('item.lost', 'c-1')).rejects.toThrow('item.lost');
  await owner.run('rollback to savepoint s');
  const id = await append('item.sold', 'c-1');
  await owner.run('commit');
  expect(await eventOfId(id)).toBeDefined();
});

const recordOf = async (type: string, record: string) =>
  ((await eventOfId(await append(type, 'c-1', sold, record))) as { record_id: string }).record_id;

test('keeps 63 bits of the hash of a record, and the number of one of ours', async () => {
  const uuid = '0b9f8c2e-8f8b-4b43-9a53-2f7d0e6f1c1a';
  // The first 8 bytes of SHA-256, without the first bit.
  expect(await recordOf('item.sold', 'SO-2026/0001')).toBe('7834253358647010543');
  expect(await recordOf('item.sold', uuid.toUpperCase())).toBe(await recordOf('item.sold', uuid));
  expect(await recordOf('item.sold', 'A')).not.toBe(await recordOf('item.sold', 'a'));
  const context = { service, gidNamespace: 'service' };
  for (const record of ['SO-2026/0001', 'é %2F', uuid.toUpperCase(), '4711', '🏡'.repeat(50)]) {
    const found = readEventRecord(context, 'Item', record);
    for (const named of [record, formatRecordGid('service', 'Item', record)])
      expect(await recordOf('item.sold', named)).toBe(found?.id);
  }
  const encoded = 'gid://service/Item/SO-2026%2F0001';
  expect(await owner.run(`select gid('Item', 'SO-2026/0001') as gid`)).toEqual([{ gid: encoded }]);
  expect(await recordOf('item.sold', encoded)).toBe(await recordOf('item.sold', 'SO-2026/0001'));
  for (const other of ['gid://service/Item/%53O-2026%2f0001', 'gid://service/Item/%53%4F%2D2026%2F0001'])
    expect(await recordOf('item.sold', other)).toBe(await recordOf('item.sold', 'SO-2026/0001'));
  expect(await recordOf('order.placed', '9223372036854775807')).toBe('9223372036854775807');
  expect(await recordOf('order.placed', 'gid://service/Order/4711')).toBe('4711');
});

const partitions = () =>
  owner.run(`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'webhook_event'::regclass`);

test('creates the partitions of a database in which no worker has run for long', async () => {
  for (const { name } of await partitions()) await owner.run(`drop table ${String(name)}`);
  const id = await append('item.sold', 'c-1');
  expect(await eventOfId(id)).toBeDefined();
  expect((await partitions()).length).toBeGreaterThan(1);
});

test('draws another id while ids repeat, and ends after 5', async () => {
  const id = await append('item.sold', 'c-1');
  const [{ source = '' } = {}] = (await owner.run(
    `select pg_get_functiondef('new_record_id()'::regprocedure) as source`,
  )) as { source?: string }[];
  onTestFinished(async () => void (await owner.run(`${source}; drop sequence draw`)));
  await owner.run(
    `create sequence draw; ${source.replace('begin', `begin if nextval('public.draw') < 5 then return ${id}; end if;`)}`,
  );
  expect(await append('item.sold', 'c-1')).not.toBe(id);
  await owner.run(`alter sequence draw restart minvalue -5 start -5`);
  await expect(append('item.sold', 'c-1')).rejects.toMatchObject({ code: 'DW006', hint: 'Repeat the transaction.' });
});

test('the function runs where its caller finds other tables of the names of ours, other functions and other operators', async () => {
  const session = await forTest(connect(database.databaseUrl));
  await session.run(`
    create schema of_caller;
    create table of_caller.account (email text);
    create function of_caller.starts_with(text, text) returns boolean language plpgsql as $$ begin raise 'shadowed'; end $$;
    create function of_caller.never(text, text) returns boolean language plpgsql as $$ begin raise 'shadowed'; end $$;
    create operator of_caller.= (leftarg = text, rightarg = text, function = of_caller.never);
    create function of_caller.never(bigint, bigint) returns boolean language plpgsql as $$ begin raise 'shadowed'; end $$;
    create operator of_caller.= (leftarg = bigint, rightarg = bigint, function = of_caller.never);
    create temporary table event_type (type text);
    create temporary table installation (only_row boolean);
    create temporary table webhook_event_queue (account_id bigint);
    set search_path = pg_temp, of_caller, public, pg_catalog`);
  onTestFinished(async () => void (await owner.run('drop schema of_caller cascade')));
  expect(await eventOfId(await append('item.sold', 'c-1', sold, 'a', session))).toBeDefined();
});

test('a login with nothing but these functions appends, and an account that is frozen, or at home in another cell, is refused', async () => {
  const login = `${new URL(database.databaseUrl).pathname.slice(1)}_shop`;
  await owner.run(`create role ${login} login password 'p'`);
  onTestFinished(async () => void (await owner.run(`drop owned by ${login}; drop role ${login}`)));
  const grants = await withStore(database.databaseUrl, (store) => grantsToApplication(store, login));
  await owner.run(grants.join(''));
  const url = Object.assign(new URL(database.databaseUrl), { username: login, password: 'p' });
  const session = await forTest(connect(url.href));
  expect(await eventOfId(await append('item.sold', 'c-1', sold, null, session))).toBeDefined();
  await expect(session.run('select * from webhook_event')).rejects.toThrow('permission denied');
  await owner.run('insert into account_home values ($1, 5, next_freeze())', [accountId]);
  onTestFinished(async () => void (await owner.run('delete from account_home')));
  await expect(append('item.sold', 'c-1', sold, null, session)).rejects.toMatchObject({ code: 'ZH001' });
  await owner.run('update account_home set frozen_at = null');
  await expect(append('item.sold', 'c-1', sold, null, session)).rejects.toMatchObject({ code: 'ZH001' });
});

test('a later release that adds a parameter with a default takes the calls of this one', async () => {
  await owner.run('begin');
  const [{ source = '' } = {}] = (await owner.run(
    `select pg_get_functiondef('append_event(text, text, json, text)'::regprocedure) as source`,
  )) as { source?: string }[];
  await owner.run(`drop function append_event;
    ${source.replace('record text DEFAULT NULL::text', 'record text default null, later text default null')}`);
  expect(await eventOfId(await append('item.sold', 'c-1'))).toBeDefined();
  await owner.run('rollback');
});
