import { forFile } from '@deedwire/testing/for-file';
import { afterAll, expect, test } from 'vitest';
import {
  backgroundTimeouts,
  createStore,
  type Database,
  onlyRow,
  type Planning,
  type Statement,
  type Store,
} from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

const stores: Store[] = [];

const openStore = (directUrl?: string, maxConnections = 10): Store => {
  const store = createStore({
    databaseUrl: database.databaseUrl,
    directUrl,
    maxConnections,
    applicationName: 'test',
    plansOnceByIndexes: true,
    timeouts: { ...backgroundTimeouts, lockMs: 1_234 },
  });
  stores.push(store);
  return store;
};

const statement: Statement = {
  name: 'settings',
  text: `select current_setting('enable_seqscan') as seqscan, current_setting('lock_timeout') as lock`,
};

const allSettings = `
  select current_setting('enable_sort') as sort, current_setting('plan_cache_mode') as plans,
    current_setting('lock_timeout') as lock`;

const settings = async (target: Database, planning?: Planning): Promise<unknown> =>
  onlyRow(await target.query({ ...statement, ...(planning && { planning }) }, []));

const database = await forFile(createServiceDatabase());

afterAll(async () => {
  for (const store of stores) await store.close();
});

test('applies to single statements and to transactions', async () => {
  const store = openStore();
  expect(await settings(store)).toEqual({ seqscan: 'off', lock: '1234ms' });
  expect(await store.transaction((transaction) => settings(transaction))).toEqual({ seqscan: 'off', lock: '1234ms' });
});

test('behind a pooler, applies to transactions and sends no start-up options, which a pooler rejects', async () => {
  const store = openStore(`${database.databaseUrl}?direct`);
  expect(await settings(store)).toEqual({ seqscan: 'on', lock: '0' });
  expect(await store.transaction((transaction) => settings(transaction))).toEqual({ seqscan: 'off', lock: '1234ms' });
  expect(await settings(store)).toEqual({ seqscan: 'on', lock: '0' });
});

test.each([
  ['on a direct connection', undefined],
  ['behind a pooler', '?direct'],
])('applies to statements in the order of an index, %s', async (_, direct) => {
  const store = openStore(direct === undefined ? undefined : `${database.databaseUrl}${direct}`);
  expect(await settings(store, 'in-index-order')).toEqual({ seqscan: 'off', lock: '1234ms' });
  // The worker deletes old statistics so.
  const deleting = `with deleted as (delete from webhook_hour_statistics returning 1) select count(*)::int from deleted`;
  expect(await store.query({ name: 'delete', text: deleting, planning: 'in-index-order' }, [])).toEqual([{ count: 0 }]);
});

test('a connection reads in the order of an index until another statement or a transaction comes', async () => {
  const store = openStore(undefined, 1);
  const ofSession = { name: 'all-settings', text: allSettings };
  const before = await store.query(ofSession, []);
  const ordered: Statement = { name: 'ordered-settings', text: allSettings, planning: 'in-index-order' };
  const inOrder = [{ sort: 'off', plans: 'force_custom_plan', lock: '1234ms' }];
  expect(before).toEqual([{ sort: 'on', plans: 'force_generic_plan', lock: '1234ms' }]);
  for (const after of [
    () => store.query(ofSession, []),
    () => store.transaction((transaction) => transaction.query(ofSession, [])),
  ]) {
    expect(await store.query(ordered, [])).toEqual(inOrder);
    expect(await store.query(ordered, [])).toEqual(inOrder);
    expect(await after()).toEqual(before);
  }
  const [prepared] = await store.query(
    {
      name: 'prepared',
      text: `
        select (generic_plans + custom_plans)::int as executions
        from pg_prepared_statements
        where name = 'ordered-settings'`,
    },
    [],
  );
  expect(prepared).toEqual({ executions: 4 });
});

test('plans a statement once, even where a plan for the values seems cheaper', async () => {
  const store = openStore();
  const counted: Statement = {
    name: 'count-accounts',
    text: `select count(*) from unnest($1::bigint[]) as wanted (id) join account on account.id = wanted.id`,
  };
  const plans: Statement = {
    name: 'plans',
    text: `
      select generic_plans::int as generic, custom_plans::int as custom
      from pg_prepared_statements
      where name = 'count-accounts'`,
  };
  for (let execution = 0; execution < 10; execution += 1) await store.query(counted, ['{1}']);
  expect(onlyRow(await store.query(plans, []))).toEqual({ generic: 10, custom: 0 });
});
