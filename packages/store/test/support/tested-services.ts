import { defineEvent, defineService, type Service } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import type { Client } from 'pg';
import * as z from 'zod';
import { migrate, withSchema } from '../../src/index.ts';
import { newRolePrefix } from './placed-database.ts';
import { accountOfRow, fixture, type RowFixture, rowFixturesOf } from './row-fixtures.ts';

/** A service and its database, for tests that each service has to pass. */
export interface TestedService {
  service: Service;
  /** One row for each table. */
  rows: ReadonlyMap<string, RowFixture>;
  /** The tables and sequences on which migrations of the application grant rights, which no app looks for. */
  granted: readonly string[];
  createDatabase: () => Promise<TestDatabase>;
}

const orderPaid = defineEvent('order.paid', {
  record: { type: 'CustomerOrder', id: ({ order }) => order.id },
  persons: ['order.email'],
  address: 'order.email',
  snapshot: z.object({ order: z.object({ id: z.string(), email: z.string() }) }),
  sample: () => ({ order: { id: '1', email: 'ada@shop.example' } }),
});

const shop = defineService({
  names: testService.names,
  interfaces: {
    customer: { title: 'Customer', account: 'Customer' },
    'supply-chain': { title: 'Supply chain', account: 'Supplier' },
  },
  contracts: [
    {
      type: 'order.paid',
      description: 'An order was paid.',
      interfaces: ['customer'],
      versions: [{ version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null, data: z.object({}) }],
    },
  ],
  events: [{ ...orderPaid, renderers: { '2026-11-01': () => ({}) } }],
  tables: {
    customer_order: { persons: { record: 'CustomerOrder', noun: 'order', address: 'email' } },
    order_line: {},
    delivery_note: {},
  },
  sequences: { order_number: 'the number of an order' },
  auditActions: { 'order.cancel': 'update' },
});

const createTables = `
  create sequence order_number;
  create table customer_order (
    id bigint primary key default new_record_id(), account_id bigint not null,
    interface interface_name not null default 'customer', email text, number text, item text not null default ''
  );
  create table order_line (id bigint primary key default new_record_id(), customer_order_id bigint not null);
  create table delivery_note (
    id bigint primary key default new_record_id(), account_id bigint not null, interface interface_name not null default 'supply-chain'
  );
  select own_table('customer_order', 'customer', 'select, insert, update');
  select own_table('order_line', 'customer', 'select, insert', 'customer_order_id');
  select own_table('delivery_note', 'supply-chain', 'select, insert, update, delete');
  select own_sequence('order_number', 'customer_order', 'number')`;

/** Two interfaces, and a table that leads to another one. Another program than `migrate` creates the tables. */
export const withoutSample: TestedService = {
  service: shop,
  rows: rowFixturesOf(shop, [
    fixture(['customer'], `insert into customer_order (account_id, interface) values (${accountOfRow}, $1)`),
    fixture(
      ['customer'],
      'insert into order_line (customer_order_id) select id from customer_order where interface = $1',
    ),
    fixture(['supply-chain'], `insert into delivery_note (account_id, interface) values (${accountOfRow}, $1)`),
  ]),
  granted: [...shop.tables, 'sequence order_number'],
  createDatabase: () =>
    createTestDatabase({
      template: 'without_sample',
      async prepare(url) {
        await migrate(url, shop, { organization: null });
        await withClient(url, (owner) => owner.query(createTables));
      },
    }),
};

const schema = 'deedwire';

/** In another schema than `public`, with a prefix of the roles. */
export const placedWithoutSample: TestedService = {
  ...withoutSample,
  async createDatabase() {
    const database = await createTestDatabase({
      template: 'placed_without_sample',
      async prepare(url) {
        await migrate(url, shop, { schema, rolePrefix: newRolePrefix(), organization: null });
        await withClient(withSchema(url, schema), (owner) => owner.query(createTables));
      },
    });
    const databaseUrl = withSchema(database.databaseUrl, schema);
    const prefix = await withClient(databaseUrl, readRolePrefix);
    return {
      ...database,
      databaseUrl,
      urlFor: async (role) => withSchema(await database.urlFor(prefix + role), schema),
    };
  },
};

/** What the names of the roles of a database begin with. */
export async function readRolePrefix(session: Pick<Client, 'query'>): Promise<string> {
  const { rows } = await session.query<{ prefix: string }>('select role_prefix() as prefix');
  return rows[0]?.prefix ?? '';
}
