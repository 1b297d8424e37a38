import { type AccountId, toRecordId } from '@deedwire/core';
import { connect, eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { AccountAwayError, createStore } from '../src/index.ts';
import { orderWrite } from './support/order-write.ts';
import { withoutSample } from './support/tested-services.ts';

const database = await forFile(withoutSample.createDatabase());
const superuser = await forFile(connect(database.databaseUrl));

/** What an operation of a guarded table needs. */
interface Operation {
  operation: 'insert' | 'update' | 'delete';
  table: string;
  /** Of an update. */
  columns: string[];
  isGuarded: boolean;
}

/** What the roles of interfaces and operators may write, and whether check_home() sees it. */
const operations = (await superuser.run(
  `
  with permitted as (
    select distinct c.oid, c.relname::text as name, op.operation, op.bit, case op.operation when 'update' then a.attname::text else '' end as column_name,
      case op.operation when 'update' then a.attnum end as attnum
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
    cross join (values ('insert', 4), ('delete', 8), ('update', 16)) as op (operation, bit)
    cross join (select role_of_interface(name) from interface union all values ('operator')) as app (role_name)
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and case op.operation when 'delete' then has_table_privilege(role_name, c.oid, 'delete')
        else has_column_privilege(role_name, c.oid, a.attnum, op.operation) end
  )
  select operation, name as "table", array_agg(column_name order by column_name) as columns, is_guarded as "isGuarded"
  from permitted
  cross join lateral (
    select exists (
      select from pg_trigger t
      where t.tgrelid = permitted.oid and t.tgfoid = 'check_home'::regproc and t.tgtype & permitted.bit <> 0
        and (permitted.attnum is null or t.tgattr = '' or permitted.attnum = any (t.tgattr))
    ) as is_guarded
  ) guard
  group by 1, 2, 4
  order by 2, 1`,
)) as unknown as Operation[];

test('every write of an interface or an operator checks the home of the account, except for these', () => {
  const found = operations
    .filter(({ isGuarded }) => !isGuarded)
    .map(
      ({ operation, table, columns }) =>
        `${operation} ${table}${operation === 'update' ? `: ${columns.join(' ')}` : ''}`,
    );
  expect(found).toEqual([
    // A new account has no row in account_home.
    'insert account',
    // What is used by queries may be lost.
    'update api_key: last_used_at last_used_from last_used_version',
    // It reports a change that was checked.
    'insert audit_entry',
    'update cost_bucket: points settled_at',
    // Releases the key of a change that was refused.
    'delete idempotency_key',
    // They have no account.
    'update installation: key_self_service',
    'insert organization',
    'update portal_session: last_used_at',
    // With an entry of the queue, in one statement.
    'insert webhook_event',
    // What is deleted is over.
    'delete webhook_handshake_count',
    // With an entry of the queue, in one transaction. The worker pauses and hastens when it records attempts.
    'update webhook_subscription: hastened_at last_read_at owner_paused_at paused_at paused_reason',
    // With its subscription.
    'insert webhook_subscription_sequence',
  ]);
});

test('a check refuses the rows of an account that is frozen or foreign, from every role', async () => {
  const fixtures = [...withoutSample.rows.values()];
  for (const interfaceName of new Set(fixtures.flatMap(({ rowsOf }) => rowsOf)))
    for (const { rowsOf, insert } of fixtures)
      if (insert !== null && rowsOf.includes(interfaceName) && !/into \w+_home/.test(insert))
        await superuser.run(insert, [interfaceName]);
  const guarded = operations.filter(({ isGuarded }) => isGuarded);
  const refusals = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const { operation, table, columns } of guarded) {
      const [all] = await superuser.run(
        `select string_agg(attname, ', ') as columns from pg_attribute
         where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = ''`,
        [table],
      );
      const listed = String(all?.['columns']);
      const statement = {
        insert: `insert into ${table} (${listed}) select ${listed} from ${table}`,
        update: `update ${table} set ${columns.map((name) => `${name} = ${name}`).join()}`,
        delete: `delete from ${table}`,
      }[operation];
      const code = await superuser.run(`begin; ${statement}; rollback`).then(
        () => '',
        (error: unknown) => (error instanceof DatabaseError ? error.code : ''),
      );
      await superuser.run('rollback');
      if (code === 'ZH001') found.push(`${operation} ${table}`);
    }
    return found;
  };
  const expected = guarded.map(({ operation, table }) => `${operation} ${table}`);
  expect(expected.length).toBeGreaterThan(20);
  expect(await refusals()).toEqual([]);
  await superuser.run('insert into account_home select id, 0, next_freeze() from account');
  expect(await refusals()).toEqual(expected);
  await superuser.run('update account_home set frozen_at = null, cell = 1');
  expect(await refusals()).toEqual(expected);
  await superuser.run('update account_home set cell = 0');
  expect(await refusals()).toEqual([]);
  await superuser.run('delete from account_home');
});

test('a shared transaction with a frozen account refuses the writes of that one only', async () => {
  const store = createStore({ databaseUrl: await database.urlFor('customer_api'), applicationName: 'writer' });
  try {
    const rows = await superuser.run(
      `insert into account (interface, organization_id, name)
       select 'customer', (select id from organization limit 1), 'A' from generate_series(1, 4) returning id`,
    );
    const accounts = rows.map(({ id }): AccountId => toRecordId(String(id)));
    const [frozen] = accounts;
    await superuser.run('insert into account_home select $1, 1, next_freeze()', [frozen]);
    for (let round = 1; round <= 2; round += 1) {
      const results = await Promise.allSettled(accounts.map((id) => store.write(orderWrite(id, 'Shared'))));
      expect(results).toEqual([
        { status: 'rejected', reason: expect.any(AccountAwayError) },
        ...accounts.slice(1).map(() => ({ status: 'fulfilled', value: { kind: 'written', answer: 'Shared' } })),
      ]);
    }
    const stored = await superuser.run(
      `select account_id as id, count(*)::int from customer_order where item = 'Shared' group by 1 order by 1`,
    );
    expect(stored).toEqual(accounts.slice(1).map((id) => ({ id, count: 2 })));
  } finally {
    await store.close();
  }
});

test('a statement that began before a freeze is refused if it has not checked, and holds up the freeze if it has', async () => {
  const other = await connect(database.databaseUrl);
  try {
    const [created] = await superuser.run(
      `insert into account (interface, organization_id, name)
       select 'customer', (select id from organization limit 1), 'A' returning id`,
    );
    const account = created?.['id'];
    const freeze = () => superuser.run('insert into account_home select $1, 1, next_freeze()', [account]);
    const holders = () =>
      superuser.run(
        `select from pg_locks
         where relation = 'account_home'::regclass and pid <> pg_backend_pid()
           and database = (select oid from pg_database where datname = current_database())`,
      );
    // Their snapshots are from before the sleep, and they check afterwards.
    for (const statement of [
      `insert into customer_order (account_id, item) select $1, 'Slow' from pg_sleep(1)`,
      'select check_homes(array[$1::bigint]) from pg_sleep(1)',
    ]) {
      const slow = other.run(statement, [account]).catch((error: unknown) => error);
      await eventually(async () =>
        expect(
          await superuser.run(
            `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
          ),
        ).toHaveLength(1),
      );
      await freeze();
      expect(await holders()).toEqual([]);
      expect(await slow).toMatchObject({ code: 'ZH001' });
      await superuser.run('delete from account_home');
    }

    await other.run('begin');
    await other.run('select check_homes(array[$1::bigint])', [account]);
    await freeze();
    expect(await holders()).toHaveLength(1);
    await other.run(`insert into customer_order (account_id, item) values ($1, 'Open')`, [account]);
    await other.run('commit');
    expect(await holders()).toEqual([]);
  } finally {
    await other.close();
  }
});

test('a transaction knows the homes of all accounts of a cell that was never split', async () => {
  const [other] = await superuser.run('select max(id) as id from account');
  const homesAfter = async (statement: string): Promise<unknown> => {
    await superuser.run('begin');
    await superuser.run(statement);
    await superuser.run(`insert into customer_order (account_id, item) values (${String(other?.['id'])}, 'Known')`);
    const [known] = await superuser.run(`select current_setting('deedwire.homes') as homes`);
    await superuser.run('rollback');
    return known?.['homes'];
  };
  const home = `insert into account_home select min(id), 0 from account`;
  await superuser.run('truncate account_home');
  expect(await homesAfter('select')).toBe('*');
  expect(await homesAfter(home)).toBe(`,${String(other?.['id'])},`);
  // A row that was rolled back has its page until VACUUM. The row of a freeze that has not committed looks the same.
  expect(await homesAfter('select')).toBe(`,${String(other?.['id'])},`);
  await superuser.run('vacuum account_home');
  expect(await homesAfter('select')).toBe('*');
});

test('a transaction of many accounts does not remember them all', async () => {
  const [created] = await superuser.run(`
    with created as (
      insert into account (interface, organization_id, name)
      select 'customer', (select id from organization limit 1), 'A' from generate_series(1, 500) returning id
    )
    select array_agg(id) as ids from created`);
  await superuser.run('begin; delete from account_home; insert into account_home select max(id), 0 from account');
  await superuser.run(`insert into customer_order (account_id, item) select id, 'Many' from unnest($1::bigint[]) id`, [
    created?.['ids'],
  ]);
  const [known] = await superuser.run(`select length(current_setting('deedwire.homes')) as characters`);
  await superuser.run('rollback');
  expect(known?.['characters']).toBeGreaterThan(900);
  expect(known?.['characters']).toBeLessThan(2_000);
});

test('a check of homes reads no table as a whole: PostgreSQL would compile its plan', async () => {
  await superuser.run('begin; set local enable_seqscan = off');
  const plan = await superuser.run('explain select from account_away where account_id = 1');
  await superuser.run('rollback');
  expect(JSON.stringify(plan)).toContain('installation_pkey');
});

test.each(['repeatable read', 'serializable'])(
  'refuses changes at %s, whose snapshot may be from before a freeze',
  async (level) => {
    await superuser.run(`begin isolation level ${level}`);
    try {
      const change = superuser.run(`insert into customer_order (account_id, item) select max(id), 'Old' from account`);
      await expect(change).rejects.toThrow('read committed');
    } finally {
      await superuser.run('rollback');
    }
  },
);
