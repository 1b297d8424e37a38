import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { selectSendingMs, selectUnquietWorkers } from '../src/cells/cell-splits.ts';
import { createStore, type Database } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

const { databaseUrl } = await forFile(createServiceDatabase());
const store = await forFile(createStore({ databaseUrl, applicationName: 'test' }));
const run = (text: string) => store.query({ name: '', text }, []);

await run(`insert into organization (id, name) values (1, 'Harbour')`);
await run(`insert into account (id, interface, organization_id, name) values (2, 'customer', 1, 'Keystone')`);
await run(`insert into account (id, interface, organization_id, name) values (3, 'supplier', 1, 'At home')`);
await run('insert into account_home (account_id, cell, frozen_at) values (2, 1, now())');

beforeEach(async () => {
  await run('delete from webhook_worker');
  await run(`insert into webhook_worker (name, leased_until) values ('suspended', now() + interval '1 hour')`);
});

test.each([1, 2, 3])('a freeze waits for a worker whose lease expires before statement %i of its poll', async (nth) => {
  let statements = 0;
  const query: Database['query'] = async (...statement) => {
    statements += 1;
    if (statements === nth) await run(`update webhook_worker set leased_until = now() - interval '1 ms'`);
    return store.query(...statement);
  };
  for (let poll = 1; poll <= 2; poll += 1)
    expect(await selectUnquietWorkers({ query }, 0, 11_000)).toEqual(['suspended']);
});

test.each([
  [11_000, 10_999],
  [21_000, 20_999],
])('a freeze of requests of %i ms waits %i ms for a worker that was just declared dead', async (sendingMs, lastMs) => {
  await run(`update webhook_worker set leased_until = now() - interval '1 ms'`);
  expect(await selectUnquietWorkers(store, lastMs, sendingMs)).toEqual(['suspended']);
  expect(await selectUnquietWorkers(store, sendingMs, sendingMs)).toEqual([]);
});

test('a freeze waits for a worker that was declared dead 15 s ago if requests take 21 s', async () => {
  await run(`update webhook_worker set alive = false, leased_until = now() - interval '15 s'`);
  expect(await selectUnquietWorkers(store, 0, 21_000)).toEqual(['suspended']);
  expect(await selectUnquietWorkers(store, 0, 11_000)).toEqual([]);
});

test.each([
  [11_000, 'the default', ''],
  [13_000, 'a timeout of 7 s', 'timeout_seconds = 7'],
  [21_000, 'the longest timeout', 'timeout_seconds = 15'],
  [21_000, 'one that is deleted now', 'timeout_seconds = 15, deleted_at = now()'],
  [11_000, 'one that was deleted 2 minutes ago', `timeout_seconds = 15, deleted_at = now() - interval '2 minutes'`],
])('requests can take %i ms with %s', async (ms, _, change) => {
  await run('delete from webhook_subscription');
  await run(`insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
    select id, 3, 'supplier', 'https://a.example/', '', id from generate_series(1, 2) id`);
  if (change !== '') await run(`update webhook_subscription set ${change} where id = 1`);
  expect(await selectSendingMs(store)).toBe(ms);
});

test('a timeout that was shortened counts as the longest for a minute', async () => {
  await run('delete from webhook_subscription');
  await run(`insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position, timeout_seconds)
    values (1, 3, 'supplier', 'https://a.example/', '', 1, 8)`);
  await run('update webhook_subscription set timeout_seconds = 9');
  expect(await selectSendingMs(store)).toBe(15_000);
  await run('update webhook_subscription set timeout_seconds = 5');
  expect(await selectSendingMs(store)).toBe(21_000);
  await run(`update webhook_subscription set timeout_lowered_at = timeout_lowered_at - interval '1 minute'`);
  expect(await selectSendingMs(store)).toBe(11_000);
});
