import { connect, type Connection } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { type Database, drawNumbers } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

// The tables of an application: one with an account, a child, and a child of that.
const create = `
  create sequence booking_number;
  create table booking (
    id bigint primary key default new_record_id(),
    account_id bigint not null,
    interface interface_name not null default 'supplier',
    number text not null
  );
  create table booking_item (id bigint primary key default new_record_id(), booking_id bigint not null);
  create table booking_note (id bigint primary key default new_record_id(), booking_item_id bigint not null)`;
const register = `
  select own_table('booking', 'supplier', 'select, insert');
  select own_table('booking_item', 'supplier', 'select, insert', 'booking_id');
  select own_table('booking_note', 'supplier', 'select, insert', 'booking_item_id');
  select own_sequence('booking_number', 'booking', 'number')`;
const tables = ['booking', 'booking_item', 'booking_note'];

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
const supplier = await forFile(connect(await database.urlFor('supplier_api')));
const customer = await forFile(connect(await database.urlFor('customer_api')));
await owner.run(`${create}; ${register}`);

const addAccount = async (interfaceName: string): Promise<string> => {
  const [row] = await owner.run(
    `with organization as (insert into organization (name) values ('Test') returning id)
     insert into account (interface, organization_id, name) select $1, id, 'Test' from organization returning id`,
    [interfaceName],
  );
  return String(row?.['id']);
};

const insertBooking = (session: Connection, account: string, interfaceName = 'supplier') =>
  session.run(`insert into booking (account_id, interface, number) values ($1, $2, 'B-41') returning id`, [
    account,
    interfaceName,
  ]);

/** A row in each table. */
async function addRows(session: Connection, account: string): Promise<void> {
  const [booking] = await insertBooking(session, account);
  const [item] = await session.run('insert into booking_item (booking_id) values ($1) returning id', [booking?.['id']]);
  await session.run('insert into booking_note (booking_item_id) values ($1)', [item?.['id']]);
}

beforeEach(async () => {
  await owner.run('delete from account_home; delete from booking_note; delete from booking_item; delete from booking');
});

test('the login of the interface has what is granted, and that of another interface nothing', async () => {
  await addRows(supplier, await addAccount('supplier'));
  for (const table of tables) {
    expect(await supplier.run(`select from ${table}`)).toHaveLength(1);
    await expect(supplier.run(`delete from ${table}`)).rejects.toThrow('permission denied');
    await expect(customer.run(`select from ${table}`)).rejects.toThrow('permission denied');
    // Not even with a right that was granted by mistake.
    await owner.run(`grant select, insert on ${table} to customer_api`);
    expect(await customer.run(`select from ${table}`)).toEqual([]);
    await expect(customer.run(`insert into ${table} select * from ${table} union all ${rowOf(table)}`)).rejects.toThrow(
      /row-level security|leads to no account/,
    );
    await owner.run(`revoke all on ${table} from customer_api`);
  }
});

function rowOf(table: string): string {
  return table === 'booking' ? `select 1, 1, 'supplier', ''` : 'select 1, 1';
}

test('no row belongs to an account of another interface', async () => {
  const other = await addAccount('customer');
  await expect(insertBooking(owner, other)).rejects.toThrow('booking_account_id_interface_fkey');
  await expect(insertBooking(owner, other, 'customer')).rejects.toThrow('booking_interface_check');
});

test('the rows of an account that is frozen or foreign cannot be written', async () => {
  const account = await addAccount('supplier');
  await addRows(owner, account);
  await owner.run('insert into account_home values ($1, 0, next_freeze())', [account]);
  const statements = [
    `insert into booking (account_id, number) select account_id, '' from booking`,
    `update booking set number = ''`,
    'insert into booking_item (booking_id) select id from booking',
    'update booking_item set booking_id = booking_id',
    'insert into booking_note (booking_item_id) select id from booking_item',
    'delete from booking_note',
  ];
  for (const state of ['cell = 0', 'frozen_at = null, cell = 5']) {
    await owner.run(`update account_home set ${state}`);
    for (const statement of statements) await expect(owner.run(statement)).rejects.toThrow('is frozen, or');
  }
});

/** Runs statements that are undone. */
async function inTransaction(work: () => Promise<void>): Promise<void> {
  await owner.run('begin');
  try {
    await work();
  } finally {
    await owner.run('rollback');
  }
}

async function expectRefused(statement: string, message: string, values: unknown[] = []): Promise<void> {
  await owner.run('savepoint before');
  await expect(owner.run(statement, values)).rejects.toThrow(message);
  await owner.run('rollback to before');
}

test.each(['subscription', 'event', 'api_client_note'])(
  'the rows of a child of a table %s, whose name resembles one of the platform, are guarded and deleted',
  async (parent) => {
    const account = await addAccount('supplier');
    await inTransaction(async () => {
      await owner.run(`
        create table ${parent} (id bigint primary key default new_record_id(), account_id bigint not null,
          interface interface_name not null default 'supplier');
        create table ${parent}_line (id bigint primary key default new_record_id(), ${parent}_id bigint not null);
        select own_table('${parent}', 'supplier', 'select, insert');
        select own_table('${parent}_line', 'supplier', 'select, insert', '${parent}_id')`);
      await owner.run(`insert into ${parent} (account_id) values ($1)`, [account]);
      const insert = `insert into ${parent}_line (${parent}_id) select id from ${parent}`;
      await owner.run(insert);
      await owner.run('insert into account_home values ($1, 0, next_freeze())', [account]);
      await owner.run(`set local deedwire.homes = ''`);
      for (const statement of [insert, `update ${parent}_line set id = id`, `delete from ${parent}_line`])
        await expectRefused(statement, 'is frozen, or');
      await owner.run('update account_home set frozen_at = null, cell = 5');
      const found = await owner.run(`select name from foreign_tables() where root ~ '^${parent}'`);
      expect(found).toEqual([{ name: `${parent}_line` }, { name: parent }]);
      for (const { name } of found) await owner.run('select delete_foreign_rows($1, 0, 1000)', [name]);
      expect(await owner.run(`select from ${parent}_line union all select from ${parent}`)).toEqual([]);
    });
  },
);

test('a row that moves is a row of both accounts', async () => {
  const [gone, kept] = [await addAccount('supplier'), await addAccount('supplier')];
  for (const account of [gone, kept]) await addRows(owner, account);
  await owner.run('insert into account_home values ($1, 0, next_freeze())', [gone]);
  const ofKept = '(select id from booking where account_id = $1)';
  for (const statement of [
    'update booking set account_id = $1 where account_id <> $1',
    `update booking_item set booking_id = ${ofKept} where booking_id <> ${ofKept}`,
    `update booking_note set booking_item_id = (select id from booking_item where booking_id = ${ofKept})`,
  ])
    await expect(owner.run(statement, [kept])).rejects.toThrow('is frozen, or');
});

test('a row that leads to no account is refused', async () => {
  const account = await addAccount('supplier');
  await owner.run('insert into account_home values ($1, 0, next_freeze())', [await addAccount('supplier')]);
  await inTransaction(async () => {
    await owner.run(`
      alter table booking_item drop constraint booking_item_booking_id_fkey;
      alter table booking alter column account_id drop not null`);
    await expectRefused('insert into booking_item (booking_id) values (1)', 'leads to no account');
    // After a check of an account that is at home.
    await owner.run('select check_homes(array[$1::bigint])', [account]);
    await owner.run('select check_homes(array[$1::bigint])', [account]);
    await expectRefused('insert into booking_item (booking_id) values (1)', 'leads to no account');
    await expectRefused(`insert into booking (number) values ('')`, 'leads to no account');
    expect(await owner.run('select from booking_item union all select from booking')).toEqual([]);
  });
});

test('the rows of a child are deleted with those of its parent', async () => {
  const account = await addAccount('supplier');
  await owner.run('insert into account_home values ($1, 0, next_freeze())', [await addAccount('supplier')]);
  await inTransaction(async () => {
    await owner.run(`
      create table booking_tag (id bigint primary key default new_record_id(),
        booking_id bigint not null references booking on delete cascade);
      select own_table('booking_tag', 'supplier', '', 'booking_id')`);
    await insertBooking(owner, account);
    await owner.run('insert into booking_tag (booking_id) select id from booking');
    await owner.run('delete from booking');
    expect(await owner.run('select from booking_tag')).toEqual([]);
  });
});

test('the rows of an account that another cell has are deleted, those of children first', async () => {
  const [gone, kept] = [await addAccount('supplier'), await addAccount('supplier')];
  await addRows(owner, gone);
  await addRows(owner, kept);
  await owner.run('insert into account_home values ($1, 5)', [gone]);
  const found = await owner.run(
    `select name, root from foreign_tables() with ordinality as t where root = any ($1) order by ordinality`,
    [tables],
  );
  expect(found.map(({ name }) => name)).toEqual(tables.toReversed());
  for (const { name } of found)
    expect(await owner.run(`select delete_foreign_rows($1, 0, 1000) - 'pages' as result`, [name])).toEqual([
      { result: { deleted: 1, kept: [] } },
    ]);
  expect(await owner.run('select account_id as id from booking')).toEqual([{ id: kept }]);
});

test('the sequence continues after the numbers of the rows', async () => {
  await insertBooking(owner, await addAccount('supplier'));
  const operator = await forTest(connect(await database.urlFor('operator')));
  const advance = () => operator.run(`select sequence, after from advance_sequences()`);
  expect(await advance()).toEqual([{ sequence: 'booking_number', after: '41' }]);
  expect(await owner.run(`select nextval('booking_number') as next`)).toEqual([{ next: '42' }]);
  // What an interface can write in its own column.
  for (const number of ['B-9223372036854775807', `B-${'9'.repeat(40)}`])
    await owner.run('update booking set number = $1', [number]);
  expect(await advance()).toEqual([]);
});

test('a table can be registered again', async () => {
  const state = () =>
    owner.run(`
      select conrelid::regclass::text as of, conname::text as name from pg_constraint where conrelid::regclass::text ~ '^booking'
      union all select tgrelid::regclass::text, tgname from pg_trigger where not tgisinternal and tgrelid::regclass::text ~ '^booking'
      union all select tablename, policyname from pg_policies where tablename ~ '^booking'
      order by 1, 2`);
  const before = await state();
  await owner.run(register);
  expect(await state()).toEqual(before);
});

test('a table that is registered again has the grants of the last time, and the rows of its policies', async () => {
  await inTransaction(async () => {
    await owner.run(`
      grant update on booking to supplier_api;
      drop policy supplier_api on booking;
      create policy supplier_api on booking to supplier_api using (true);
      select own_table('booking', 'supplier', 'select (id, number), insert')`);
    const rights = ['select', 'insert', 'update', 'delete'].map(
      (right) => `has_table_privilege('supplier_api', 'booking', '${right}')`,
    );
    expect(
      await owner.run(
        `select array[${rights.join(', ')}, has_column_privilege('supplier_api', 'booking', 'number', 'select')] as found`,
      ),
    ).toEqual([{ found: [false, true, false, false, true] }]);
    expect(
      await owner.run(`select qual from pg_policies where tablename = 'booking' and policyname = 'supplier_api'`),
    ).toEqual([{ qual: `(interface = 'supplier'::interface_name)` }]);
  });
});

test('a table that was renamed is registered by its new name, with its children and sequences', async () => {
  const account = await addAccount('supplier');
  await addRows(owner, account);
  await owner.run('insert into account_home values ($1, 0, next_freeze())', [account]);
  await inTransaction(async () => {
    const again = `select own_table('stay', 'supplier', 'select, insert')`;
    const insertItem = 'insert into booking_item (booking_id) select booking_id from booking_item';
    await owner.run('alter table booking rename to stay');
    await expectRefused(insertItem, 'The table booking_item or that of its parent was renamed or dropped.');
    await expectRefused(again, 'run: alter table public.stay rename constraint booking_pkey to stay_pkey');
    await owner.run(`alter table stay rename constraint booking_pkey to stay_pkey; ${again}`);
    await owner.run(`alter table booking_item rename to stay_item; alter table stay_item rename constraint booking_item_pkey to stay_item_pkey;
      select own_table('stay_item', 'supplier', 'select', 'booking_id')`);
    expect(
      await owner.run(`select relation, parent from own_table where relation ~ 'stay|booking' order by 1`),
    ).toEqual([
      { relation: 'booking_note', parent: 'stay_item' },
      { relation: 'stay', parent: null },
      { relation: 'stay_item', parent: 'stay' },
    ]);
    expect(await owner.run(`select relation from own_sequence where sequence = 'booking_number'`)).toEqual([
      { relation: 'stay' },
    ]);
    for (const statement of [
      `update stay set number = ''`,
      insertItem.replaceAll('booking_item', 'stay_item'),
      'delete from booking_note',
    ])
      await expectRefused(statement, 'is frozen, or');
  });
});

test('a foreign key that does not hold at the end of a statement, or leads to another column, is not enough', async () => {
  await inTransaction(async () => {
    await owner.run(`
      alter table booking add code bigint unique;
      create table booking_tag (id bigint primary key default new_record_id(), booking_id bigint not null references booking (code));
      create table booking_mark (id bigint primary key default new_record_id(),
        booking_id bigint not null references booking deferrable initially deferred);
      select own_table('booking_tag', 'supplier', '', 'booking_id'), own_table('booking_mark', 'supplier', '', 'booking_id')`);
    for (const table of ['booking_tag', 'booking_mark'])
      expect(
        await owner.run(
          `select from pg_constraint where conrelid = $1::regclass and confrelid = 'booking'::regclass and not condeferrable
             and confkey = array[1::smallint]`,
          [table],
        ),
      ).toHaveLength(1);
  });
});

const id = 'id bigint primary key default new_record_id()';
const account = `account_id bigint not null, interface interface_name not null default 'supplier'`;
const wrong = (columns: string): string => `create table wrong (${columns})`;

test.each([
  ['that does not exist', 'select', `'wrong', 'supplier', 'select'`, 'There is no table wrong in the schema public.'],
  ['of a session', `create temporary table wrong (${id})`, `'wrong', 'supplier', ''`, 'There is no table wrong in'],
  [
    'that is partitioned',
    `${wrong(`${id}, ${account}`)} partition by range (id)`,
    `'wrong', 'supplier', 'select'`,
    'own_table() takes an ordinary table, and wrong is partitioned. Create one, and move the rows.',
  ],
  [
    'that is a partitioned child',
    `${wrong(`${id}, booking_id bigint not null`)} partition by range (id)`,
    `'wrong', 'supplier', 'select', 'booking_id'`,
    'own_table() takes an ordinary table, and wrong is partitioned.',
  ],
  [
    'that is a partition',
    `create table days (${id}, ${account}) partition by range (id); create table wrong partition of days default`,
    `'wrong', 'supplier', 'select'`,
    'own_table() takes an ordinary table, and wrong is a partition.',
  ],
  [
    'that inherits',
    'create table wrong () inherits (booking)',
    `'wrong', 'supplier', 'select'`,
    'own_table() takes an ordinary table, and wrong inherits, or is inherited from.',
  ],
  [
    'that is a view',
    'create view wrong as select * from booking',
    `'wrong', 'supplier', 'select'`,
    'own_table() takes an ordinary table, and wrong is no table.',
  ],
  ['of the platform', 'select', `'api_client', 'supplier', ''`, 'The table api_client is one of the platform.'],
  [
    'with the name of a partition',
    `create table wrong_20260101 (${id}, ${account})`,
    `'wrong_20260101', 'supplier', ''`,
    'The name of the table wrong_20260101 ends with 8 digits, like that of a partition of a day, which is dropped. Rename it.',
  ],
  [
    'of another owner',
    `${wrong(`${id}, ${account}`)}; alter table wrong owner to operator`,
    `'wrong', 'supplier', ''`,
    'The table wrong has another owner than the tables of the platform; run: alter table public.wrong owner to',
  ],
  [
    'of an interface that was not added',
    wrong(`${id}, ${account}`),
    `'wrong', (select i from unnest(enum_range(null::interface_name)) i where i not in (select name from interface) limit 1), ''`,
    'call add_interface() first',
  ],
  ...['all', 'select, truncate', 'select insert', 'select,', 'trigger', 'select with grant option'].map((grants) => [
    `with the grants "${grants}"`,
    wrong(`${id}, ${account}`),
    `'wrong', 'supplier', '${grants}'`,
    `The grants on the table wrong are "${grants}", but must be some of select, insert, update and delete, or empty.`,
  ]),
  [
    'without a drawn id',
    wrong(`id bigint primary key, ${account}`),
    `'wrong', 'supplier', 'select'`,
    'The table wrong needs the primary key',
  ],
  [
    'whose id is no bigint',
    wrong(`id numeric primary key default new_record_id(), ${account}`),
    `'wrong', 'supplier', 'select'`,
    'The table wrong needs the primary key: id bigint primary key default new_record_id().',
  ],
  [
    'whose primary key has another name',
    wrong(`id bigint constraint "Key" primary key default new_record_id(), ${account}`),
    `'wrong', 'supplier', 'select'`,
    'The primary key of the table wrong has the name Key; run: alter table public.wrong rename constraint "Key" to wrong_pkey',
  ],
  [
    'without an interface',
    wrong(`${id}, account_id bigint not null`),
    `'wrong', 'supplier', 'select'`,
    'The table wrong needs the column: interface interface_name not null. It has none of this name.',
  ],
  [
    'whose account can be null',
    wrong(`${id}, account_id bigint, interface interface_name not null`),
    `'wrong', 'supplier', 'select'`,
    'The table wrong needs the column: account_id bigint not null. It has account_id bigint.',
  ],
  [
    'whose interface can be null',
    wrong(`${id}, account_id bigint not null, interface interface_name`),
    `'wrong', 'supplier', 'select'`,
    'The table wrong needs the column: interface interface_name not null. It has interface interface_name.',
  ],
  [
    'whose account is computed',
    wrong(`${id}, interface interface_name not null, account_id bigint not null generated always as (1) stored`),
    `'wrong', 'supplier', 'select'`,
    'It has account_id bigint not null generated.',
  ],
  [
    'whose column to the parent can be null',
    wrong(`${id}, booking_id bigint`),
    `'wrong', 'supplier', 'select', 'booking_id'`,
    'The table wrong needs the column: booking_id bigint not null. It has booking_id bigint.',
  ],
  [
    'whose column to the parent is too small',
    wrong(`${id}, booking_id int not null`),
    `'wrong', 'supplier', 'select', 'booking_id'`,
    'The table wrong needs the column: booking_id bigint not null. It has booking_id integer not null.',
  ],
  [
    'without the column to the parent',
    wrong(id),
    `'wrong', 'supplier', 'select', 'booking_id'`,
    'The table wrong needs the column: booking_id bigint not null. It has none of this name.',
  ],
  [
    'whose parent is not registered',
    wrong(`${id}, api_client_id bigint not null`),
    `'wrong', 'supplier', 'select', 'api_client_id'`,
    'The column api_client_id of the table wrong does not lead to a table that own_table() has registered for the interface supplier.',
  ],
  [
    'whose parent is of another interface',
    wrong(`${id}, booking_id bigint not null`),
    `'wrong', 'customer', 'select', 'booking_id'`,
    'does not lead to a table that own_table() has registered for the interface customer.',
  ],
  [
    'whose parent was dropped',
    `${wrong(`${id}, gone_id bigint not null`)}; create table gone (${id}, ${account}); select own_table('gone', 'supplier', ''); drop table gone`,
    `'wrong', 'supplier', 'select', 'gone_id'`,
    'The column gone_id of the table wrong does not lead to a table that own_table() has registered',
  ],
  [
    'that is its own parent',
    'alter table booking add booking_id bigint not null',
    `'booking', 'supplier', 'select', 'booking_id'`,
    'The column booking_id of the table booking leads to this table itself. Name a column that leads to its parent, or none.',
  ],
  [
    'that is the parent of its parent',
    'alter table booking add booking_note_id bigint not null',
    `'booking', 'supplier', 'select', 'booking_note_id'`,
    'The column booking_note_id of the table booking leads to this table itself.',
  ],
  [
    'that has another interface',
    'select',
    `'booking', 'customer', 'select'`,
    'The table booking is one of the interface supplier, and stays it. Create another one for customer.',
  ],
  [
    'whose child has another interface',
    `drop table booking cascade; create table booking (${id}, account_id bigint not null, interface interface_name not null)`,
    `'booking', 'customer', 'select'`,
    'The table booking_item, which leads to booking, is one of the interface supplier. Drop it first.',
  ],
  [
    'with persons of events of another interface',
    `${wrong(`${id}, ${account}`)};
     insert into event_type values ('guest.came', '{customer}', 'Guest', '{}', '{guest.name}', '{}');
     insert into person_table values ('wrong', 'Guest', '{name}', '{}', '{}')`,
    `'wrong', 'supplier', 'select'`,
    'The table wrong has the persons of the event guest.came, which is one of customer, and not of supplier.',
  ],
])('a table %s is refused', async (_, table, parameters, message) => {
  await owner.run(`begin; ${table}`);
  try {
    await expect(owner.run(`select own_table(${parameters})`)).rejects.toThrow(message);
  } finally {
    await owner.run('rollback');
  }
});

test('a table that was created again can have another interface', async () => {
  await inTransaction(async () => {
    await owner.run(`
      create table gone (${id}, ${account});
      select own_table('gone', 'supplier', 'select');
      drop table gone;
      create table gone (${id}, account_id bigint not null, interface interface_name not null default 'customer');
      select own_table('gone', 'customer', 'select')`);
    expect(await owner.run(`select of_interface as of from own_table where relation = 'gone'`)).toEqual([
      { of: 'customer' },
    ]);
  });
});

test.each([
  ['that does not exist', 'select', `'wrong', 'booking', 'number'`, 'There is no sequence wrong in the schema public.'],
  [
    'that is a table',
    'create table wrong ()',
    `'wrong', 'booking', 'number'`,
    'There is no sequence wrong in the schema public.',
  ],
  [
    'of the platform',
    'select',
    `'record_number', 'booking', 'number'`,
    'The sequence record_number is one of the platform.',
  ],
  [
    'of a table that is not registered',
    'create sequence wrong; create table note ()',
    `'wrong', 'note', 'number'`,
    'own_table() has not registered the table note, which the sequence wrong is for; call it first.',
  ],
  [
    'of a table that does not exist',
    'create sequence wrong',
    `'wrong', 'gone', 'number'`,
    'own_table() has not registered the table gone',
  ],
  [
    'of a column that does not exist',
    'create sequence wrong',
    `'wrong', 'booking', 'code'`,
    'The table booking has no column code, which the sequence wrong is for.',
  ],
  ...['date', 'numeric', 'boolean'].map((type) => [
    `of a column of the type ${type}`,
    `create sequence wrong; alter table booking add code ${type}`,
    `'wrong', 'booking', 'code'`,
    `The column code of the table booking has the type ${type}. A column of the sequence wrong is a text that ends with the number, or an integer.`,
  ]),
])('a sequence %s is refused', async (_, prepare, parameters, message) => {
  await owner.run(`begin; ${prepare}`);
  try {
    await expect(owner.run(`select own_sequence(${parameters})`)).rejects.toThrow(message);
  } finally {
    await owner.run('rollback');
  }
});

test.each(['int', 'bigint', 'varchar(20)', 'code'])(
  'a sequence of a column of the type %s continues after its numbers',
  async (type) => {
    await insertBooking(owner, await addAccount('supplier'));
    await inTransaction(async () => {
      await owner.run(`
      create domain code as text;
      create sequence seat_number;
      alter table booking add seat ${type} default '41';
      select own_sequence('seat_number', 'booking', 'seat')`);
      expect(await owner.run(`select highest_used from sequence_states() where sequence = 'seat_number'`)).toEqual([
        { highest_used: '41' },
      ]);
    });
  },
);

test('an operator draws the numbers of a sequence that a restore has lost', async () => {
  const operator = await forTest(connect(await database.urlFor('operator')));
  const [{ last = '' } = {}] = await owner.run(`select last_value + 3 as last from booking_number`);
  const query: Database['query'] = async ({ text }, values) => (await operator.run(text, [...values])) as never;
  expect(await drawNumbers({ query }, 'booking_number', String(last))).toMatchObject({ after: String(last) });
});

test('no login of an app can register a table', async () => {
  for (const statement of [
    `own_table('booking', 'supplier', 'all')`,
    `own_sequence('record_number', 'booking', 'number')`,
  ])
    await expect(supplier.run(`select ${statement}`)).rejects.toThrow('permission denied');
});
