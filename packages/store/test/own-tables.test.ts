import { connect, type Connection } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
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
      /row-level security/,
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

test.each([
  [
    'without a drawn id',
    'create table wrong (id bigint primary key)',
    `'wrong', 'supplier', 'select'`,
    'needs the primary key',
  ],
  [
    'without an account',
    'create table wrong (id bigint primary key default new_record_id(), account_id bigint)',
    `'wrong', 'supplier', 'select'`,
    'needs the column account_id and interface',
  ],
  [
    'whose parent is not registered',
    'create table wrong (id bigint primary key default new_record_id(), api_client_id bigint)',
    `'wrong', 'supplier', 'select', 'api_client_id'`,
    'does not lead to a table that own_table() has registered',
  ],
  [
    'whose parent is of another interface',
    'create table wrong (id bigint primary key default new_record_id(), booking_id bigint)',
    `'wrong', 'customer', 'select', 'booking_id'`,
    'does not lead to a table that own_table() has registered',
  ],
])('a table %s is refused', async (_, table, parameters, message) => {
  await owner.run(`begin; ${table}`);
  try {
    await expect(owner.run(`select own_table(${parameters})`)).rejects.toThrow(message);
  } finally {
    await owner.run('rollback');
  }
});

test('no login of an app can register a table', async () => {
  for (const statement of [
    `own_table('booking', 'supplier', 'all')`,
    `own_sequence('record_number', 'booking', 'number')`,
  ])
    await expect(supplier.run(`select ${statement}`)).rejects.toThrow('permission denied');
});
