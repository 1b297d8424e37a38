import { defineEvent, defineService, type Service } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { applyMigrations, describeDatabaseProblems, findUnregistered, migrate, readMigrations } from '@deedwire/store';
import { withStore } from '@deedwire/store/test-support';
import { connect } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import * as z from 'zod';

// Another service may have the words of the sample.

/** Customers refer others. */
function serviceOf(record: string): Service {
  const event = defineEvent('referral.created', {
    record: { type: record, id: ({ referral }) => referral.id },
    persons: ['referral.mail'],
    address: 'referral.mail',
    snapshot: z.object({ referral: z.object({ id: z.string(), mail: z.string() }) }),
    sample: () => ({ referral: { id: '1', mail: 'ada@shop.example' } }),
  });
  return defineService({
    names: testService.names,
    interfaces: { customer: { title: 'Customer', account: 'Customer' } },
    contracts: [
      {
        type: 'referral.created',
        description: 'A customer was referred.',
        interfaces: ['customer'],
        versions: [
          { version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null, data: z.object({}) },
        ],
      },
    ],
    events: [{ ...event, renderers: { '2026-11-01': () => ({}) } }],
    tables: { referral: { persons: { record, noun: 'referral', address: 'mail' } } },
    auditActions: { 'member.remove': 'lost', 'referral.convert': 'update' },
    clientActions: ['referral.convert'],
  });
}

test.each(['Referral', 'Friend'])(
  'a new database takes a service with a table referral of the record %s',
  async (record) => {
    const service = serviceOf(record);
    const database = await forTest(createTestDatabase({ template: 'empty', prepare: async () => {} }));
    const owner = await forTest(connect(database.databaseUrl));
    // Before the application has made its tables, and after that.
    await migrate(database.databaseUrl, service);
    await owner.run(`
    create table referral (id bigint primary key default new_record_id(), account_id bigint not null,
      interface interface_name not null default 'customer', mail text);
    select own_table('referral', 'customer', 'select, insert')`);
    const problems: string[] = [];
    await migrate(database.databaseUrl, service, { onUnregistered: (problem) => problems.push(problem) });
    expect(problems).toEqual([]);

    expect(await owner.run('select relation, record_type as record, columns from person_table')).toEqual([
      { relation: 'referral', record, columns: ['mail'] },
    ]);
    expect(await owner.run('select type, interfaces::text[] as of, record_type as record from event_type')).toEqual([
      { type: 'referral.created', of: ['customer'], record },
    ]);
    expect(
      await owner.run('select action, of_operators as "ofOperators", removes from audit_action order by 1'),
    ).toEqual([
      { action: 'member.remove', ofOperators: true, removes: false },
      { action: 'referral.convert', ofOperators: false, removes: false },
    ]);
    for (const role of ['customer_api', 'operator'] as const) {
      const url = await database.urlFor(role);
      expect(await withStore(url, (store) => describeDatabaseProblems(store, service, role))).toEqual([]);
      expect(await withStore(url, (store) => findUnregistered(store, service))).toEqual([]);
    }
  },
);

test('a database with accounts of the sample keeps what an earlier migration registered for it', async () => {
  const database = await forTest(createTestDatabase({ template: 'empty', prepare: async () => {} }));
  const owner = await forTest(connect(database.databaseUrl));
  const migrations = await readMigrations();
  await applyMigrations(
    database.databaseUrl,
    migrations.filter(({ name }) => name < '0100'),
    {},
  );
  const registered = () =>
    owner.run(`select 'event' as kind, type as name from event_type union all select 'table', relation from person_table
      union all select 'action', action from audit_action order by 1, 2`);
  const before = await registered();
  await owner.run(
    `with organization as (insert into organization (name) values ('Test') returning id)
     insert into account (interface, organization_id, name) select 'partner', id, '' from organization`,
  );
  await applyMigrations(database.databaseUrl, migrations, {});
  expect(await registered()).toEqual(before.filter(({ name }) => String(name).startsWith('referral')));
  expect(before).toHaveLength(14);
});
