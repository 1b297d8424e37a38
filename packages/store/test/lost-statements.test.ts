import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createStore, describeLostStatements, findLostStatements, type StoreOptions } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

const database = await forFile(createServiceDatabase());

const one = { name: 'one', text: 'select 1 as one' };
const forgetStatements = { name: 'forget', text: 'deallocate all' };
const lost = ['a pooler before the database loses prepared statements; set DATABASE_PREPARED_STATEMENTS=off'];

/** A store with one connection, which takes the place of one of a pooler that another client has used. */
const openStore = (options: Partial<StoreOptions> = {}) =>
  createStore({ databaseUrl: database.databaseUrl, applicationName: 'test', maxConnections: 1, ...options });

test('notices that a connection has lost a prepared statement', async () => {
  const store = openStore();
  await store.query(one, []);
  expect(describeLostStatements([store])).toEqual([]);
  await store.query(forgetStatements, []);
  await expect(store.query(one, [])).rejects.toThrow('prepared statement "one" does not exist');
  expect(describeLostStatements([openStore(), store])).toEqual(lost);
  await store.close();
});

test('sends unnamed statements if it shall prepare none', async () => {
  const store = openStore({ prepares: false });
  for (let count = 1; count <= 2; count += 1) {
    expect(await store.query(one, [])).toEqual([{ one: 1 }]);
    expect(await store.transaction((transaction) => transaction.query(one, []))).toEqual([{ one: 1 }]);
    await store.query(forgetStatements, []);
  }
  expect(await store.query({ name: 'prepared', text: 'select from pg_prepared_statements' }, [])).toEqual([]);
  expect(await findLostStatements(store)).toEqual([]);
  await store.close();
});

test('finds that a direct connection keeps its statements, even if the store knows another one for notifications', async () => {
  for (const options of [{}, { directUrl: database.databaseUrl, prepares: true }]) {
    const store = openStore({ ...options, maxConnections: 2 });
    expect(await findLostStatements(store)).toEqual([]);
    await store.query(one, []);
    const prepared = { name: 'prepared', text: `select from pg_prepared_statements where name = 'one'` };
    expect(await store.query(prepared, [])).toHaveLength(1);
    await store.close();
  }
});
