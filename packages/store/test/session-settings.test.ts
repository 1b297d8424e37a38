import type { TestDatabase } from '@deedwire/embedded-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backgroundTimeouts, createStore, type Database, onlyRow, type Store } from '../src/index.ts';
import { createMigratedDatabase } from './support/database.ts';

let database: TestDatabase;
const stores: Store[] = [];

const openStore = (directUrl?: string): Store => {
  const store = createStore({
    databaseUrl: database.databaseUrl,
    directUrl,
    applicationName: 'test',
    prefersIndexes: true,
    timeouts: { ...backgroundTimeouts, lockMs: 1_234 },
  });
  stores.push(store);
  return store;
};

const settings = async (target: Database): Promise<unknown> =>
  onlyRow(
    await target.query(
      {
        name: 'settings',
        text: `select current_setting('enable_seqscan') as seqscan, current_setting('lock_timeout') as lock`,
      },
      [],
    ),
  );

beforeAll(async () => {
  database = await createMigratedDatabase();
});

afterAll(async () => {
  for (const store of stores) await store.close();
  await database.drop();
});

test('applies to single statements and to transactions', async () => {
  const store = openStore();
  expect(await settings(store)).toEqual({ seqscan: 'off', lock: '1234ms' });
  expect(await store.transaction(settings)).toEqual({ seqscan: 'off', lock: '1234ms' });
});

test('behind a pooler, applies to transactions and sends no start-up options, which a pooler rejects', async () => {
  const store = openStore(`${database.databaseUrl}?direct`);
  expect(await settings(store)).toEqual({ seqscan: 'on', lock: '0' });
  expect(await store.transaction(settings)).toEqual({ seqscan: 'off', lock: '1234ms' });
  expect(await settings(store)).toEqual({ seqscan: 'on', lock: '0' });
});
