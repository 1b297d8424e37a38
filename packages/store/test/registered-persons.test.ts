import { isEmail, isText } from '@deedwire/core';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { type PersonAddress, selectAddresses } from '../src/persons/person-erasures.ts';
import { selectPersonRegistry } from '../src/persons/person-registry.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

// The tables of an application: guests, and the visits of a guest, whose account is that of the guest.
const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
const operator = await forFile(connect(await database.urlFor('operator')));

await owner.run(`
  create domain phone as text not null;
  create table guest (
    id bigint primary key default new_record_id(),
    account_id bigint not null,
    interface interface_name not null default 'supplier',
    "First ""Name""" varchar(30) not null,
    email text not null unique,
    born date,
    notes jsonb,
    phone phone,
    initial text generated always as (left("First ""Name""", 1)) stored
  );
  create table visit (id bigint primary key default new_record_id(), guest_id bigint not null, companion text, address text);
  select own_table('guest', 'supplier', 'select');
  select own_table('visit', 'supplier', 'select', 'guest_id');
  delete from person_table;
  delete from event_type;
  insert into person_table values
    ('guest', 'Guest', array['First "Name"', 'email', 'born', 'notes', 'phone', 'initial'], '{email}', array['name', 'it''s "odd"']),
    ('visit', 'Visit', '{companion,address}', '{address}', '{}');
  insert into event_type values
    ('guest.came', '{supplier}', 'Guest', '{}', '{guest.name,guest.email}', '{guest.email}'),
    ('guest.left', '{supplier}', 'Guest', '{}', '{guest.name}', '{}'),
    ('guest.counted', '{supplier}', 'Guest', '{}', '{}', '{}')`);

interface Guest {
  account: string;
  id: string;
}

async function addGuest(email = 'ada@example.test'): Promise<Guest> {
  const [row] = await owner.run(
    `with organization as (insert into organization (name) values ('Test') returning id), account as (
       insert into account (interface, organization_id, name) select 'supplier', id, 'Test' from organization returning id
     )
     select id::text as account, new_record_id()::text as id from account`,
  );
  const guest = { account: String(row?.['account']), id: String(row?.['id']) };
  await owner.run(
    `insert into guest (id, account_id, "First ""Name""", email, born, notes, phone) values ($1, $2, 'Ada', $3, '1815-12-10', '{}', '1')`,
    [guest.id, guest.account, email],
  );
  return guest;
}

const call = async (statement: string, values: unknown[] = []): Promise<unknown> =>
  (await operator.run(`select ${statement} as result`, values))[0]?.['result'];
const rowOf = ({ id }: Pick<Guest, 'id'>, type = 'Guest') => call('person_row($1, $2)', [type, id]);
const begin = ({ id, account }: Guest, type = 'Guest') => call('begin_person_erasure($1, $2, $3)', [type, id, account]);

beforeEach(async () => {
  await owner.run('delete from person_erasure; delete from visit; delete from guest; delete from idempotency_key');
});

test('an erasure replaces the columns that are registered, by texts only where null is not allowed', async () => {
  const guest = await addGuest();
  const other = await addGuest('other@example.test');
  expect(await rowOf(guest)).toEqual({ table: 'guest', accountId: guest.account, isErased: false, savedResults: 0 });
  await begin(guest);
  expect(await owner.run('select * from guest where id = $1', [guest.id])).toEqual([
    {
      id: guest.id,
      account_id: guest.account,
      interface: 'supplier',
      'First "Name"': `erased-${guest.id}`,
      email: `erased-${guest.id}@erased.invalid`,
      born: null,
      notes: null,
      phone: `erased-${guest.id}`,
      initial: 'e',
    },
  ]);
  expect(await rowOf(guest)).toMatchObject({ isErased: true });
  expect(await rowOf(other)).toMatchObject({ isErased: false });
  expect(await owner.run('select record_type, record_id, account_id, interface from person_erasure')).toEqual([
    { record_type: 'Guest', record_id: guest.id, account_id: guest.account, interface: 'supplier' },
  ]);
});

test('the longest placeholders are valid', async () => {
  const guest = { ...(await addGuest()), id: '9223372036854775807' };
  await owner.run('update guest set id = $1', [guest.id]);
  await begin(guest);
  const [row] = await owner.run(`select "First ""Name""" as name, email from guest`);
  expect([String(row?.['email']).length, String(row?.['name']).length]).toEqual([41, 26]);
  expect([isEmail(String(row?.['email'])), isText(String(row?.['name']), 200)]).toEqual([true, true]);
});

test('the account of a record is that of its parent', async () => {
  const guest = await addGuest();
  const [visit] = await owner.run(
    `insert into visit (guest_id, companion, address) values ($1, 'Bea', 'bea@example.test') returning id::text as id`,
    [guest.id],
  );
  const own = { account: guest.account, id: String(visit?.['id']) };
  const found = { type: 'Visit', id: own.id, accountId: own.account, address: 'bea@example.test' };
  expect(await call(`person_addresses('Visit', 0)`)).toEqual({ readTo: null, rows: [found] });
  expect(await call(`person_accounts('Visit', $1)`, [[own.id, '1']])).toEqual([{ id: own.id, accountId: own.account }]);
  const stranger = await addGuest('stranger@example.test');
  await expect(begin({ ...own, account: stranger.account }, 'Visit')).rejects.toThrow('is of another account than');
  await begin(own, 'Visit');
  expect(await owner.run('select companion, address from visit')).toEqual([{ companion: null, address: null }]);
  expect(await rowOf(own, 'Visit')).toMatchObject({ table: 'visit', accountId: own.account, isErased: true });
});

test('addresses are read in parts, in the order of ids', async () => {
  const { account } = await addGuest();
  await owner.run(
    `insert into guest (id, account_id, "First ""Name""", email, phone) select g, $1, '', g || '@example.test', '' from generate_series(1, 5000) g`,
    [account],
  );
  const part = (await call(`person_addresses('Guest', 0)`)) as { readTo: string; rows: { id: string }[] };
  expect([part.readTo, part.rows.length, part.rows[0]?.id, part.rows.at(-1)?.id]).toEqual(['5000', 5000, '1', '5000']);
  expect(await call(`person_addresses('Guest', 5000)`)).toMatchObject({ readTo: null, rows: [expect.anything()] });
});

test('the saved results of a record are found wherever they name it, and their keys by the members that are registered', async () => {
  const guest = await addGuest();
  const keys: [key: string, payload: object][] = [
    ['ada-1', { guest: { id: `gid://service/Guest/${guest.id}`, name: 'Ada' } }],
    ['order-1', { id: `gid://service/Guest/${guest.id}`, list: [{ 'it\'s "odd"': 'order' }] }],
    ['grace-1', { id: `gid://service/Guest/${guest.id}`, name: null, nickname: 'grace' }],
    ['ada-2', { id: `gid://service/Guest/${guest.id}1`, name: 'Ada', note: `/Guest/${guest.id}"` }],
  ];
  for (const [key, payload] of keys)
    await owner.run(
      `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until, payload)
       values ($1, 'supplier', 'm', $2, '', gen_random_uuid(), now(), $3)`,
      [guest.account, key, JSON.stringify(payload)],
    );
  expect(await rowOf(guest)).toMatchObject({ savedResults: 3 });
  await call('forget_keys_of_person($1, $2)', ['Guest', guest.id]);
  await begin(guest);
  expect(await owner.run('select key, record_deleted as erased from idempotency_key order by key')).toEqual([
    { key: 'ada-2', erased: false },
    { key: 'grace-1', erased: true },
  ]);
});

test('a saved result that is nested as deep as the database can store stops no erasure', async () => {
  const guest = await addGuest();
  await owner.run(
    `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until, payload)
     values ($1, 'supplier', 'm', 'k', '', gen_random_uuid(), now(), $2)`,
    [
      guest.account,
      `{"guest":{"id":"gid://service/Guest/${guest.id}","name":"k"},"list":${'['.repeat(11_000)}${']'.repeat(11_000)}}`,
    ],
  );
  await call('forget_keys_of_person($1, $2)', ['Guest', guest.id]);
  await begin(guest);
  expect(await owner.run('select record_deleted as erased from idempotency_key')).toEqual([]);
});

/** Columns, those that are registered, and what an erasure leaves of the row. */
const replaced: [what: string, columns: string, registered: string[], values: string, left: Record<string, unknown>][] =
  [
    ['a text that can be null', 'name text', ['name'], `'Ada'`, { name: null }],
    ['a number that a later release made of a text', 'name int not null', ['name'], '7', { name: 7 }],
    ['a list that a later release made of a text', 'name text[] not null', ['name'], `'{Ada}'`, { name: ['Ada'] }],
    ['an enum', 'name mood not null', ['name'], `'good'`, { name: 'good' }],
    ['a text in a domain over a domain that allows no null', 'name nick', ['name'], `'Ada'`, { name: 'erased-7' }],
    ['a domain that is too short', 'name short not null', ['name'], `'Ada'`, { name: 'Ada' }],
    ['a domain over a domain that is too short', 'name shorter not null', ['name'], `'Ada'`, { name: 'Ada' }],
    ['a domain that is too short and can be null', 'name shorter', ['name'], `'Ada'`, { name: null }],
    ['a domain of other texts', 'name initial not null', ['name'], `'A'`, { name: 'A' }],
    ['a text that is too short', 'name varchar(25) not null', ['name'], `'Ada'`, { name: 'Ada' }],
    ['a text that is long enough', 'name char(26) not null', ['name'], `'Ada'`, { name: 'erased-7'.padEnd(26) }],
    ['a constraint of other texts', `name text not null check (name ~ '^[A-Z]')`, ['name'], `'Ada'`, { name: 'Ada' }],
    ['a constraint that allows no null', 'name text check (name is not null)', ['name'], `'Ada'`, { name: 'erased-7' }],
    [
      'a constraint that allows it',
      'name text not null check (length(name) < 99)',
      ['name'],
      `'Ada'`,
      { name: 'erased-7' },
    ],
    [
      'a constraint over columns that are replaced',
      'name text, phone text, age int, check (num_nonnulls(name, phone) > 0)',
      ['name', 'phone', 'age'],
      `'Ada', '1', 36`,
      { name: 'Ada', phone: '1', age: null },
    ],
    [
      'a constraint over columns that are replaced and allows it',
      'name text not null, phone text not null, check (name <> phone or length(phone) > 3)',
      ['name', 'phone'],
      `'Ada', '1'`,
      { name: 'erased-7', phone: 'erased-7' },
    ],
    [
      'an index in which nulls are equal',
      'name text unique nulls not distinct',
      ['name'],
      `'Ada'`,
      { name: 'erased-7' },
    ],
    ['a number in an index in which nulls are equal', 'name int unique nulls not distinct', ['name'], '1', { name: 1 }],
    ['a name of another table', `name text not null references nickname`, ['name'], `'Ada'`, { name: 'Ada' }],
    ['a name of another table that can be null', `name text references nickname`, ['name'], `'Ada'`, { name: null }],
    ['the account', 'name text', ['account_id', 'interface', 'id'], `'Ada'`, { name: 'Ada', id: '7' }],
  ];

describe('an erasure', () => {
  test.each(replaced)('replaces a column only if it can be: %s', async (_, columns, registered, values, left) => {
    const { account } = await addGuest();
    await owner.run(`
      begin;
      create domain nickname_text as text;
      create domain nick as nickname_text not null;
      create domain short as varchar(5);
      create domain shorter as short;
      create domain initial as text check (value ~ '^[A-Z]$');
      create type mood as enum ('good');
      create table nickname (name text primary key);
      insert into nickname values ('Ada');
      create table friend (id bigint primary key default new_record_id(), account_id bigint not null,
        interface interface_name not null default 'supplier', ${columns});
      select own_table('friend', 'supplier', '')`);
    try {
      await owner.run(`insert into person_table values ('friend', 'Friend', $1, '{}', '{}')`, [registered]);
      await owner.run(`insert into friend values (7, $1, 'supplier', ${values})`, [account]);
      await owner.run(`select begin_person_erasure('Friend', 7, $1)`, [account]);
      expect(await owner.run('select * from friend')).toEqual([
        { id: '7', account_id: account, interface: 'supplier', ...left },
      ]);
      const columnsOf = await owner.run(`select column_name as name from placeholders_of('friend', $1, '{}')`, [
        registered,
      ]);
      const changed = await owner.run(`select person_row('Friend', 7) ->> 'isErased' as erased`);
      expect(changed).toEqual([{ erased: columnsOf.length > 0 ? 'true' : null }]);
    } finally {
      await owner.run('rollback');
    }
  });

  test('waits for no lock to know what it replaces', async () => {
    const guest = await addGuest();
    await owner.run('begin; alter table guest add check (length(email) > 3); lock table guest');
    try {
      const locked = await operator.run(
        `select column_name as name from placeholders_of('guest', '{email,born}', '{}')`,
      );
      expect(locked).toEqual([{ name: 'email' }, { name: 'born' }]);
    } finally {
      await owner.run('rollback');
    }
    await begin(guest);
  });

  test('replaces no column to which another table refers, unless that follows', async () => {
    const { account } = await addGuest();
    for (const [follows, left] of [
      ['', 'Ada'],
      ['on update cascade', 'erased-7'],
    ] as const) {
      await owner.run(`
        begin;
        create table friend (id bigint primary key default new_record_id(), account_id bigint not null,
          interface interface_name not null default 'supplier', name text not null unique);
        select own_table('friend', 'supplier', '');
        create table nickname (name text references friend (name) ${follows});
        insert into person_table values ('friend', 'Friend', '{name}', '{}', '{}')`);
      try {
        await owner.run(`insert into friend values (7, $1, 'supplier', 'Ada')`, [account]);
        await owner.run(`insert into nickname values ('Ada')`);
        await owner.run(`select begin_person_erasure('Friend', 7, $1)`, [account]);
        expect(await owner.run('select name from friend union all select name from nickname')).toEqual([
          { name: left },
          { name: left },
        ]);
      } finally {
        await owner.run('rollback');
      }
    }
  });
});

/** The accounts and addresses, in pages of two. */
async function readAddresses(table: string, address: string): Promise<unknown[]> {
  const found: unknown[] = [];
  await withStore(await database.urlFor('operator'), async (store) => {
    const ofTable = { table, record: '', noun: '', address, columns: [], knownBy: [], isAddressUnique: true };
    for (let after: PersonAddress | null = null; ;) {
      const page: PersonAddress[] = await selectAddresses(store, ofTable, after, 2);
      found.push(...page.map((row) => [row.accountId, row.address]));
      after = page.at(-1) ?? null;
      if (page.length < 2) break;
    }
  });
  return found;
}

test('an operator reads the addresses of a table and of a child in the order of accounts', async () => {
  const guests = [await addGuest('c@example.test'), await addGuest('a@example.test')];
  const [first, second] = guests;
  await owner.run(
    `insert into guest (account_id, "First ""Name""", email, phone)
     select account_id, '', 'b@example.test', '' from guest where id = $1`,
    [first?.id],
  );
  await owner.run(
    `insert into visit (guest_id, address) select id, email from guest order by id desc;
     insert into visit (guest_id) select id from guest`,
  );
  const expected = (...ofFirst: string[]) => [
    ...ofFirst.map((address) => [first?.account, address]),
    [second?.account, 'a@example.test'],
  ];
  expect(await readAddresses('guest', 'email')).toEqual(expected('c@example.test', 'b@example.test'));
  expect(await readAddresses('visit', 'address')).toEqual(expected('b@example.test', 'c@example.test'));
  // Not another column, or table.
  expect([await readAddresses('guest', 'phone'), await readAddresses('account', 'name')]).toEqual([[], []]);
});

test('what another owner has created in place of a table is not run', async () => {
  const own = await forTest(createServiceDatabase());
  const session = await forTest(connect(own.databaseUrl));
  await session.run(`
    create table guest (id bigint primary key default new_record_id(), account_id bigint not null,
      interface interface_name not null default 'supplier', email text not null);
    select own_table('guest', 'supplier', 'select');
    insert into person_table values ('guest', 'Guest', '{email}', '{email}', '{}');
    drop table guest;
    create function steal() returns text language plpgsql as $$ begin raise 'It runs as %.', current_user; end $$;
    create view guest as select 7::bigint as id, 1::bigint as account_id, 'supplier'::interface_name as interface, steal() as email`);
  expect(await session.run(`select person_row('Guest', 7) as row`)).toEqual([{ row: null }]);
  await session.run(`
    drop view guest;
    create table guest (id bigint primary key, account_id bigint not null, interface interface_name not null, email text not null);
    alter table guest owner to operator`);
  expect(await session.run(`select * from person_columns('Guest')`)).toEqual([]);
});

const ofRecord = (id: string, more: object = {}) => ({ guest: { id: `gid://service/Guest/${id}`, ...more } });

describe('an event', () => {
  const long = `${'a'.repeat(254)}@b.test`;
  test.each([
    ['with all', 'guest.came', ofRecord('7', { email: 'a@b.test' }), '7', 'a@b.test', null],
    ['of a type without an address', 'guest.left', ofRecord('7', { email: 'a@b.test' }), '7', null, null],
    ['without the address', 'guest.came', ofRecord('7'), '7', null, 'it has no address of at most 254 characters'],
    ...[null, ['a@b.test'], { at: 'a@b.test' }, 7, long].map(
      (email) =>
        [
          `with the address ${JSON.stringify(email).slice(0, 20)}`,
          'guest.came',
          ofRecord('7', { email }),
          '7',
          null,
          'it has no address of at most 254 characters',
        ] as const,
    ),
    ...[null, [], 'guest', 7, {}, { guest: null }, { guest: [] }, ofRecord('0'), ofRecord('9223372036854775808')].map(
      (snapshot) =>
        [`that is ${JSON.stringify(snapshot)}`, 'guest.left', snapshot, null, null, 'it has no id of a Guest'] as const,
    ),
    [
      'with several records',
      'guest.left',
      { ...ofRecord('7'), host: ofRecord('8').guest },
      null,
      null,
      'it has no id of a Guest',
    ],
    ['with one record twice', 'guest.left', { ...ofRecord('7'), list: [ofRecord('7')] }, '7', null, null],
    [
      'with an id that is a list',
      'guest.left',
      { guest: { id: ['gid://service/Guest/7'] } },
      null,
      null,
      'it has no id of a Guest',
    ],
  ] as const)('%s tells what it says of its record', async (_, type, snapshot, recordId, address, problem) => {
    expect(await call('read_person_event($1, null, $2)', [type, JSON.stringify(snapshot)])).toEqual({
      recordId,
      address,
      problem,
    });
  });

  test.each([
    ['nested as deep as the database can store', `${'['.repeat(11_000)}${']'.repeat(11_000)}`],
    ['nested deeper than a path can follow', `${'['.repeat(12_500)}${']'.repeat(12_500)}`],
    ['with 49,000 ids', JSON.stringify({ list: Array.from({ length: 49_000 }, () => ({ id: '' })) })],
  ])('%s stops no erasure', async (_, snapshot) => {
    expect(await call(`read_person_event('guest.left', null, $1)`, [snapshot])).toMatchObject({ recordId: null });
  });

  test('of a type that is not registered cannot be read', async () => {
    expect(await call(`read_person_event('order.paid', null, $1)`, [JSON.stringify(ofRecord('7'))])).toMatchObject({
      problem: expect.stringContaining('it has no id'),
    });
  });

  test('is of an erased person if its type identifies the person of its record', async () => {
    const guest = await addGuest();
    await begin(guest);
    const isErased = async (type: string, record: string | null, snapshot: unknown) =>
      (
        await owner.run('select is_of_erased_person($1, $2, $3, $4) as result', [
          guest.account,
          type,
          record,
          JSON.stringify(snapshot),
        ])
      )[0]?.['result'];
    expect(await isErased('guest.came', guest.id, {})).toBe(true);
    expect(await isErased('guest.left', null, ofRecord(guest.id))).toBe(true);
    expect(await isErased('guest.left', null, {})).toBe(true);
    expect(await isErased('guest.left', '7', ofRecord(guest.id))).toBe(false);
    expect(await isErased('guest.counted', guest.id, {})).toBe(false);
    expect(await isErased('order.paid', guest.id, ofRecord(guest.id))).toBe(false);
  });
});

describe('what an earlier release has registered', () => {
  test('is erased in the columns and the tables that exist', async () => {
    const guest = await addGuest();
    await owner.run(`
      begin;
      alter table guest rename born to born_on;
      insert into person_table values ('visitor', 'Guest', '{name}', '{name}', '{}')`);
    try {
      await owner.run('select begin_person_erasure($1, $2, $3)', ['Guest', guest.id, guest.account]);
      expect(await owner.run('select born_on is null as erased, notes from guest')).toEqual([
        { erased: false, notes: null },
      ]);
      await owner.run('drop table visit; drop table guest');
      expect(await owner.run('select person_row($1, $2) as result', ['Guest', guest.id])).toEqual([{ result: null }]);
      for (const statement of [
        `person_addresses('Guest', 0) = '{"readTo": null, "rows": []}'`,
        `person_accounts('Guest', '{1}') = '[]'`,
      ])
        expect(await owner.run(`select ${statement} as result`)).toEqual([{ result: true }]);
      // Events of it are left.
      await owner.run('delete from person_erasure');
      await owner.run('select begin_person_erasure($1, $2, $3)', ['Guest', guest.id, guest.account]);
      expect(await owner.run('select record_id from person_erasure')).toEqual([{ record_id: guest.id }]);
    } finally {
      await owner.run('rollback');
    }
  });

  test('is found in all of its tables', async () => {
    const guest = await addGuest();
    await owner.run(`
      begin;
      create table visitor (id bigint primary key default new_record_id(), account_id bigint not null,
        interface interface_name not null default 'supplier', mail text);
      select own_table('visitor', 'supplier', '');
      insert into person_table values ('visitor', 'Guest', '{mail}', '{mail}', '{}')`);
    try {
      await owner.run(`insert into visitor values (7, $1, 'supplier', 'bea@example.test')`, [guest.account]);
      const [{ result } = {}] = (await owner.run(`select person_addresses('Guest', 0) as result`)) as {
        result?: { rows: { address: string }[] };
      }[];
      expect(result?.rows.map(({ address }) => address)).toEqual(['bea@example.test', 'ada@example.test']);
      expect(await owner.run(`select person_row('Guest', 7) ->> 'table' as result`)).toEqual([{ result: 'visitor' }]);
      await owner.run(`select begin_person_erasure('Guest', 7, $1)`, [guest.account]);
      expect(await owner.run('select mail from visitor union all select email from guest')).toEqual([
        { mail: null },
        { mail: 'ada@example.test' },
      ]);
    } finally {
      await owner.run('rollback');
    }
  });
});

test('a record of another interface is not erased', async () => {
  const guest = await addGuest();
  const [customer] = await owner.run(
    `with organization as (insert into organization (name) values ('Test') returning id)
     insert into account (interface, organization_id, name) select 'customer', id, 'Test' from organization returning id::text as id`,
  );
  await begin({ id: '7', account: String(customer?.['id']) });
  await expect(begin({ ...guest, account: String(customer?.['id']) })).rejects.toThrow('is of another account than');
  expect(await owner.run('select from person_erasure')).toEqual([]);
});

test('a type of record that is not registered finds nothing, whatever it is', async () => {
  const guest = await addGuest();
  for (const type of ['Visitor', `Guest'; drop table guest; --`, '%', '']) {
    expect(await rowOf(guest, type)).toBeNull();
    await begin(guest, type);
    await call('forget_keys_of_person($1, $2)', [type, guest.id]);
  }
  expect(await owner.run('select email from guest')).toEqual([{ email: 'ada@example.test' }]);
  expect(await owner.run('select from person_erasure')).toEqual([]);
});

test('the registry says which records and events identify persons', async () => {
  const { records, events } = await withStore(await database.urlFor('operator'), selectPersonRegistry);
  expect([...records.values()]).toEqual([
    { type: 'Guest', interfaceName: 'supplier', accountType: 'Supplier', tables: ['guest'] },
    { type: 'Visit', interfaceName: 'supplier', accountType: 'Supplier', tables: ['visit'] },
  ]);
  const kinds = Object.fromEntries([...events.values()].map(({ type, hasAddress }) => [type, hasAddress]));
  expect(kinds).toEqual({ 'guest.came': true, 'guest.left': false });
});
