import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { createStore, type SlowStatement } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

const slow: SlowStatement[] = [];

const database = await forFile(createServiceDatabase());
const options = { databaseUrl: database.databaseUrl, applicationName: 'test' };
const store = await forFile(
  createStore({ ...options, slowStatement: { thresholdMs: 100, onSlow: (statement) => slow.push(statement) } }),
);
const patient = await forFile(
  createStore({ ...options, slowStatement: { thresholdMs: 60_000, onSlow: (statement) => slow.push(statement) } }),
);
const silent = await forFile(
  createStore({ ...options, slowStatement: { thresholdMs: 0, onSlow: (statement) => slow.push(statement) } }),
);
// Slow at its COMMIT.
const superuser = await connect(database.databaseUrl);
await superuser.run(`create table deferred (id int)`);
await superuser.run(`create function sleep_at_commit() returns trigger language plpgsql
  as $$ begin perform pg_sleep(0.15); return null; end $$`);
await superuser.run(`create constraint trigger sleep_at_commit after insert on deferred deferrable initially deferred
  for each row execute function sleep_at_commit()`);
await superuser.close();

beforeEach(() => {
  slow.length = 0;
});

const sleep = { name: 'sleep', text: 'select pg_sleep($1::float8), $2::text from generate_series(1, 3)' };
const durationMs = expect.any(Number);

test('reports a slow statement by its name, milliseconds and rows, without its values', async () => {
  await store.query(sleep, [0.05, 'secret']);
  expect(slow).toEqual([{ name: 'sleep', durationMs, rows: 3 }]);
  expect(slow[0]?.durationMs).toBeGreaterThanOrEqual(100);
});

test('does not report a statement below the threshold, or any at a threshold of 0', async () => {
  await patient.query(sleep, [0.05, '']);
  await silent.query(sleep, [0.05, '']);
  await silent.transaction((transaction) => transaction.query(sleep, [0.05, '']));
  expect(slow).toEqual([]);
});

test('reports the statements of a transaction, and its COMMIT', async () => {
  await store.transaction(async (transaction) => {
    await transaction.query(sleep, [0.05, '']);
    await transaction.query({ name: 'insert', text: 'insert into deferred values (1)' }, []);
  });
  // On a busy machine, BEGIN and the insert can be slow too.
  expect(slow.filter(({ name }) => name === 'sleep' || name === 'commit')).toEqual([
    { name: 'sleep', durationMs, rows: 3 },
    { name: 'commit', durationMs, rows: expect.any(Number) },
  ]);
});

test('reports a slow statement that fails, with null rows', async () => {
  const failing = { name: 'sleep-and-fail', text: 'select 1 / count(*) from pg_sleep(0.15) p where p is null' };
  await expect(store.query(failing, [])).rejects.toThrow('division by zero');
  expect(slow).toEqual([{ name: 'sleep-and-fail', durationMs, rows: null }]);
});
