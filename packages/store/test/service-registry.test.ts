import {
  defineEvent,
  defineService,
  type EventContract,
  type Persons,
  type RenderedEvent,
  type ServiceOptions,
} from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { findUnregistered, groupRolesOf, migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));

const registries = ['audit_action', 'event_type', 'person_table'];

beforeEach(async () => {
  await owner.run(registries.map((table) => `delete from ${table}`).join(';'));
});

const contractOf = (type: string, interfaces: readonly string[]): EventContract => ({
  type,
  description: type,
  interfaces,
  versions: [{ version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null, data: z.object({}) }],
});

const order = z.object({ id: z.string(), buyer: z.string(), note: z.string().optional() });
const sample = { id: '1', buyer: 'Ada', note: 'x' };
const sampleOf = () => ({ order: sample, paidAt: 'now', price: 1 });
const snapshots = {
  order: z.object({ order, paidAt: z.string() }),
  /** Of a later release. */
  orderWithPrice: z.object({ order, price: z.number(), paidAt: z.string().optional() }),
};

interface OrderOptions {
  type?: string;
  record?: string;
  interfaces?: readonly string[];
  persons?: readonly string[];
  address?: string;
  snapshot?: z.ZodType<object>;
}

const orderEvent = (options: OrderOptions): RenderedEvent => {
  const { type = 'order.paid', record = 'Order', persons = [], address, snapshot = snapshots.order } = options;
  const event = defineEvent(type, {
    record: { type: record, id: () => '1' },
    persons,
    ...(address && { address }),
    snapshot,
    sample: sampleOf,
  });
  return { ...event, renderers: { '2026-11-01': () => ({}) } };
};

/** A service with an event. */
function serviceOf(event: OrderOptions, more: Partial<ServiceOptions> = {}) {
  return defineService({
    names: testService.names,
    interfaces: {
      supplier: { title: 'Supplier', account: 'Supplier' },
      customer: { title: 'Customer', account: 'Customer' },
    },
    contracts: [contractOf(event.type ?? 'order.paid', event.interfaces ?? ['customer'])],
    events: [orderEvent(event)],
    ...more,
  });
}

const typesOf = () =>
  owner.run(
    'select type, interfaces::text[] as interfaces, record_type as record, required, persons, addresses from event_type',
  );

const known = {
  type: 'order.paid',
  interfaces: ['customer'],
  record: 'Order',
  required: ['order', 'order.buyer', 'order.id', 'paidAt'],
  persons: [],
  addresses: [],
};

test('a migration registers the event types of the service, again without a change', async () => {
  const service = serviceOf({});
  await migrate(database.databaseUrl, service);
  expect(await typesOf()).toEqual([{ ...known, required: expect.arrayContaining(known.required) }]);
  await migrate(database.databaseUrl, service);
  expect(await typesOf()).toEqual([known]);
});

test('a release adds to what an earlier one has registered, and the earlier one takes nothing away', async () => {
  const earlier = serviceOf({});
  const later = serviceOf({ interfaces: ['supplier'], snapshot: snapshots.orderWithPrice });
  const both = { ...known, interfaces: ['customer', 'supplier'], required: ['order', 'order.buyer', 'order.id'] };
  for (const service of [earlier, later, earlier]) await migrate(database.databaseUrl, service);
  expect(await typesOf()).toEqual([both]);
  await migrate(database.databaseUrl, serviceOf({ type: 'order.sent' }));
  expect(await typesOf()).toHaveLength(2);
  for (const service of [earlier, later])
    expect(await withStore(database.databaseUrl, (store) => findUnregistered(store, service))).toEqual([]);
});

test('a migration refuses another record of an event, and registers nothing', async () => {
  await migrate(database.databaseUrl, serviceOf({}));
  const before = await typesOf();
  await expect(
    migrate(database.databaseUrl, serviceOf({ record: 'Invoice', interfaces: ['supplier'] })),
  ).rejects.toThrow('the event order.paid is about the record Invoice, and in the database about Order');
  const bank = {
    supplier: { title: 'Supplier', account: 'Bank' },
    customer: { title: 'Customer', account: 'Customer' },
  };
  await expect(migrate(database.databaseUrl, serviceOf({}, { interfaces: bank }))).rejects.toThrow(
    'the interface supplier has accounts of the type Bank, and in the database of Supplier',
  );
  expect(await typesOf()).toEqual(before);
});

test('names what the database does not know of a service', async () => {
  const problems = async (service: Parameters<typeof findUnregistered>[1], role = 'supplier_api') =>
    withStore(await database.urlFor(role), (store) => findUnregistered(store, service));
  const service = serviceOf(
    {},
    {
      interfaces: {
        supplier: { title: 'Supplier', account: 'Supplier' },
        customer: { title: 'Customer', account: 'Customer' },
        desk: { title: 'Desk', account: 'Desk' },
      },
      tables: { booking: {} },
      sequences: { booking_number: '' },
    },
  );
  const expected = [
    'the database lacks the interfaces desk with the types of their accounts; run: deedwire-operator database migrate',
    'the database does not know all of the events order.paid; run: deedwire-operator database migrate',
    'own_table() has not registered booking, or the table was created again; call it in a migration',
    'own_sequence() has not registered booking_number, or its column is gone; call it in a migration',
  ];
  for (const role of groupRolesOf(testService)) expect(await problems(service, role)).toEqual(expected);

  const told: string[] = [];
  await migrate(database.databaseUrl, service, { onUnregistered: (problem) => told.push(problem) });
  expect(told).toEqual([
    ...expected.filter((problem) => !problem.includes('database migrate')),
    'own_table() has registered customer_order, which `tables` of the service does not list; add it',
  ]);
  expect(await problems(serviceOf({}))).toEqual([]);
  expect(await problems(serviceOf({ interfaces: ['supplier'] }))).toEqual([
    'the database does not know all of the events order.paid; run: deedwire-operator database migrate',
  ]);
});

test('a table that is no longer guarded needs own_table() again', async () => {
  const service = serviceOf({}, { tables: { customer_order: {} } });
  await migrate(database.databaseUrl, service);
  for (const change of [
    'alter table customer_order disable trigger check_home',
    'drop trigger check_home_of_deleted on customer_order',
    'alter table customer_order disable row level security',
    'alter table customer_order rename to ordered; create table customer_order (id bigint)',
  ]) {
    await owner.run(`begin; ${change}`);
    try {
      const problems = await findUnregistered(
        { query: async ({ text }, values) => (await owner.run(text, [...values])) as never },
        service,
      );
      expect(problems).toEqual([
        'own_table() has not registered customer_order, or the table was created again; call it in a migration',
      ]);
    } finally {
      await owner.run('rollback');
    }
  }
});

test('a table that was created again needs own_table() again', async () => {
  const service = serviceOf({}, { tables: { booking: {} }, sequences: { booking_number: '' } });
  const problems = () => withStore(database.databaseUrl, (store) => findUnregistered(store, service));
  const create = `create table booking (id bigint primary key default new_record_id(), account_id bigint not null,
    interface interface_name not null default 'customer', number text)`;
  const register = `select own_table('booking', 'customer', 'select'); select own_sequence('booking_number', 'booking', 'number')`;
  await migrate(database.databaseUrl, service);
  await owner.run(`${create}; create sequence booking_number; ${register}`);
  expect(await problems()).toEqual([]);

  const needed = [
    'own_table() has not registered booking, or the table was created again; call it in a migration',
    'own_sequence() has not registered booking_number, or its column is gone; call it in a migration',
  ];
  await owner.run('drop table booking');
  expect(await problems()).toEqual(needed);
  // What is left stops no worker.
  expect(await owner.run('select sequence from sequence_states()')).not.toContainEqual({ sequence: 'booking_number' });
  await owner.run(create);
  expect(await problems()).toEqual(needed.slice(0, 1));
  await owner.run('alter table booking rename number to reference');
  expect(await problems()).toEqual(needed);
  await owner.run(register.replace("'number'", "'reference'"));
  expect(await problems()).toEqual([]);
});

const buyers = (persons: Partial<Persons> = {}): Partial<ServiceOptions> => ({
  tables: { buyer: { persons: { record: 'Order', noun: 'buyer', address: 'email', ...persons } } },
});
const personal = { persons: ['order.buyer'], address: 'order.buyer' };

const personsOf = () =>
  owner.run('select relation, record_type as record, columns, addresses, known_by as "knownBy" from person_table');

test('what identifies persons is registered, and stays when a release no longer has it', async () => {
  const earlier = serviceOf(personal, buyers({ columns: ['name'], knownBy: ['name'] }));
  const later = serviceOf(
    { ...personal, persons: ['order.buyer', 'order.note'] },
    buyers({ address: 'mail', columns: ['phone'], knownBy: ['mail'] }),
  );
  const all = {
    relation: 'buyer',
    record: 'Order',
    columns: ['email', 'mail', 'name', 'phone'],
    addresses: ['email', 'mail'],
    knownBy: ['mail', 'name'],
  };
  for (const service of [earlier, later, earlier, serviceOf({})]) await migrate(database.databaseUrl, service);
  expect(await personsOf()).toEqual([all]);
  expect(await typesOf()).toEqual([{ ...known, persons: ['order.buyer', 'order.note'], addresses: ['order.buyer'] }]);
});

test.each([
  ['whose event another interface had', ['customer', 'supplier'], [], ['customer'], personal.persons],
  ['whose event another interface gets', ['customer'], personal.persons, ['supplier'], []],
  ['in whose event another interface takes part', ['customer'], personal.persons, ['customer', 'supplier'], []],
] as const)('a migration refuses persons %s', async (_, interfaces, persons, laterInterfaces, laterPersons) => {
  await migrate(database.databaseUrl, serviceOf({ interfaces, persons }, buyers()));
  const before = await typesOf();
  const later = serviceOf({ interfaces: laterInterfaces, persons: laterPersons }, buyers());
  await expect(migrate(database.databaseUrl, later)).rejects.toThrow(
    `the persons of the record Order are in events of the interface ${laterInterfaces.join(', ')}, and in the database of ${interfaces.join(', ')}`,
  );
  expect(await typesOf()).toEqual(before);
});

test.each([
  [
    'a table of other records',
    serviceOf({ ...personal, type: 'invoice.paid', record: 'Invoice' }, buyers({ record: 'Invoice' })),
    'the table buyer has persons of the record Invoice, and in the database of Order',
  ],
  [
    'persons of another interface',
    serviceOf({ ...personal, type: 'order.sent', interfaces: ['supplier'] }, buyers()),
    'the persons of the record Order are in events of the interface supplier, and in the database of customer',
  ],
])('a migration refuses %s', async (_, service, message) => {
  await migrate(database.databaseUrl, serviceOf(personal, buyers()));
  const before = [await personsOf(), await typesOf()];
  await expect(migrate(database.databaseUrl, service)).rejects.toThrow(message);
  expect([await personsOf(), await typesOf()]).toEqual(before);
});

const actionsOf = () =>
  owner.run('select action, of_operators as "ofOperators", removes from audit_action order by action');

test('an action that clients take in any release stays theirs', async () => {
  const earlier = serviceOf({}, { auditActions: { 'order.cancel': 'update', 'order.remove': 'lost' } });
  const later = serviceOf(
    {},
    { auditActions: { 'order.cancel': 'update', 'order.remove': 'delete' }, clientActions: ['order.cancel'] },
  );
  const isKnown = async (service: Parameters<typeof findUnregistered>[1]) =>
    (await withStore(database.databaseUrl, (store) => findUnregistered(store, service))).length === 0;
  await migrate(database.databaseUrl, earlier);
  expect(await actionsOf()).toEqual([
    { action: 'order.cancel', ofOperators: true, removes: false },
    { action: 'order.remove', ofOperators: true, removes: false },
  ]);
  expect([await isKnown(earlier), await isKnown(later)]).toEqual([true, false]);
  for (const service of [later, earlier]) await migrate(database.databaseUrl, service);
  expect(await actionsOf()).toEqual([
    { action: 'order.cancel', ofOperators: false, removes: false },
    { action: 'order.remove', ofOperators: true, removes: true },
  ]);
  expect([await isKnown(earlier), await isKnown(later)]).toEqual([true, true]);
});

test('names the columns that an erasure could not replace', async () => {
  const columns = ['name', 'born', 'short', 'long', 'initial', 'gone', 'code', 'id'];
  const service = serviceOf(personal, buyers({ columns }));
  await owner.run(`
    begin;
    create domain code as text not null check (value ~ '^[A-Z]$');
    create table buyer (
      id bigint primary key default new_record_id(), account_id bigint not null, interface interface_name not null default 'supplier',
      email varchar(40) not null, name text not null, born date not null, short varchar(25) not null, long varchar(26) not null,
      code code, initial text generated always as (left(name, 1)) stored
    );
    select own_table('buyer', 'supplier', 'select')`);
  const check = async () =>
    findUnregistered({ query: async ({ text }, values) => (await owner.run(text, [...values])) as never }, service);
  try {
    const problems = await check();
    expect(problems).toEqual([
      'the database does not know all of the events order.paid; run: deedwire-operator database migrate',
      'the database does not know all that identifies persons in buyer; run: deedwire-operator database migrate',
      'person erase cannot replace buyer.born, buyer.code, buyer.email, buyer.gone, buyer.id, buyer.initial, buyer.short: its type and its constraints must allow null, or erased-<id> (of an address, erased-<id>@erased.invalid)',
      'own_table() has registered buyer for another interface than that of the events of their persons',
    ]);
  } finally {
    await owner.run('rollback');
  }
});

test.each(groupRolesOf(testService))('%s reads the registries and cannot change them', async (role) => {
  await migrate(database.databaseUrl, serviceOf({}));
  const login = await connect(await database.urlFor(role));
  try {
    expect(await login.run('select type from event_type')).toEqual([{ type: 'order.paid' }]);
    for (const table of [...registries, 'own_table', 'own_sequence', 'interface']) {
      const [{ column = '' } = {}] = (await owner.run(
        `select attname as column from pg_attribute where attrelid = $1::regclass and attnum = 1`,
        [table],
      )) as { column?: string }[];
      for (const statement of [
        `insert into ${table} (${column}) values (null)`,
        `update ${table} set ${column} = ${column}`,
        `delete from ${table}`,
        `truncate ${table}`,
        `alter table ${table} disable trigger all`,
      ])
        await expect(login.run(statement)).rejects.toThrow(/permission denied|must be owner/);
    }
  } finally {
    await login.close();
  }
});

test('`migrate` names the events that it adds, and the members that it requires no more', async () => {
  expect(await migrate(database.databaseUrl, serviceOf({}))).toMatchObject({
    addedEvents: ['order.paid'],
    optionalMembers: [],
  });
  expect(await migrate(database.databaseUrl, serviceOf({}))).toMatchObject({ addedEvents: [], optionalMembers: [] });
  expect(await migrate(database.databaseUrl, serviceOf({ snapshot: snapshots.orderWithPrice }))).toMatchObject({
    addedEvents: [],
    optionalMembers: [{ type: 'order.paid', members: ['paidAt'] }],
  });
});
