import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection, untilBlocked } from '@deedwire/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { advanceSequences, createStore, selectSequences, type Store } from '../src/index.ts';
import { withoutSample } from './support/tested-services.ts';

let database: TestDatabase;
let superuser: Connection;
/** Has the rights of an operator. */
let store: Store;

beforeEach(async () => {
  database = await withoutSample.createDatabase();
  superuser = await connect(database.databaseUrl);
  store = createStore({ databaseUrl: await database.urlFor('operator'), applicationName: 'test-operator' });
  await superuser.run(`insert into organization (name) values ('Test')`);
  await superuser.run(
    `insert into account (interface, organization_id, name) select 'customer', id, 'Test' from organization`,
  );
});

afterEach(async () => {
  await store.close();
  await superuser.close();
  await database.drop();
});

const subscribe = (position: number) =>
  superuser.run(
    `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
     select id, 'customer', '', '', $1 from account`,
    [position],
  );
const enqueue = (connection: Connection = superuser) =>
  connection.run(
    `insert into webhook_event_queue (account_id, interface, event_id) select id, 'customer', new_record_id() from account
     returning position::int, event_id`,
  );
const queue = () => superuser.run('select position::int, event_id from webhook_event_queue order by position');
const behind = async (): Promise<string[]> =>
  (await selectSequences(store)).filter(({ isBehind }) => isBehind).map(({ name }) => name);

test('no sequence of a new database is behind', async () => {
  expect(await behind()).toEqual([]);
  expect(await advanceSequences(store)).toEqual([]);
});

test('finds each sequence that is behind the rows, and advances it', async () => {
  await subscribe(100);
  await superuser.run(
    `insert into webhook_worker (id, name, leased_until, alive) overriding system value values (7, 'dead', now(), false)`,
  );
  await superuser.run(`insert into customer_order (account_id, number) select id, 'O-2026-000042' from account`);
  await superuser.run(
    `insert into audit_entry (number, actor_type, actor, action, subject) values (500, 'OPERATOR', 'test', 'test.insert', 'test')`,
  );
  const last = Object.fromEntries((await selectSequences(store)).map(({ name, lastNumber }) => [name, lastNumber]));
  expect(await behind()).toEqual([
    'audit_entry_number',
    'order_number',
    'webhook_queue_position',
    'webhook_worker_id_seq',
  ]);
  expect(await advanceSequences(store)).toEqual([
    { name: 'audit_entry_number', before: last['audit_entry_number'], after: '500' },
    { name: 'order_number', before: '0', after: '42' },
    { name: 'webhook_queue_position', before: '0', after: '100' },
    { name: 'webhook_worker_id_seq', before: '0', after: '7' },
  ]);
  expect(await behind()).toEqual([]);
  expect(await superuser.run(`select nextval('order_number')::int as number`)).toEqual([{ number: 43 }]);
  const workers = superuser.run(
    `insert into webhook_worker (name, leased_until) values ('new', now()) returning id::int`,
  );
  expect(await workers).toEqual([{ id: 8 }]);
});

test('the highest position of the queue counts too', async () => {
  await enqueue();
  await superuser.run('update webhook_event_queue set position = 30');
  expect(await behind()).toEqual(['webhook_queue_position']);
  await advanceSequences(store);
  expect(await enqueue()).toMatchObject([{ position: 31 }]);
});

test('moves the entries with numbers of the old sequence after all subscriptions, in their order', async () => {
  await subscribe(100);
  const events = [...(await enqueue()), ...(await enqueue()), ...(await enqueue())].map(({ event_id }) => event_id);
  await superuser.run('update webhook_event_queue set position = 90 where position = 3');
  await advanceSequences(store);
  expect(await queue()).toEqual([
    { position: 90, event_id: events[2] },
    { position: 101, event_id: events[0] },
    { position: 102, event_id: events[1] },
  ]);
});

test('waits for a transaction that has drawn a number, and moves its entry', async () => {
  await subscribe(100);
  const other = await connect(database.databaseUrl);
  await other.run('begin');
  const [entry] = await enqueue(other);
  const advanced = advanceSequences(store);
  await untilBlocked(superuser, 1);
  await other.run('commit');
  await advanced;
  expect(await queue()).toEqual([{ position: 101, event_id: entry?.['event_id'] }]);
  await other.close();
});

test('refuses to advance the queue while a worker is running', async () => {
  await subscribe(100);
  await superuser.run(`insert into webhook_worker (name, leased_until) values ('running', now() + interval '1 hour')`);
  await expect(advanceSequences(store)).rejects.toThrow('A worker is running. Stop all workers');
  expect(await behind()).toEqual(['webhook_queue_position']);
  await superuser.run('update webhook_worker set alive = false');
  await advanceSequences(store);
  expect(await behind()).toEqual([]);
});

test('reads index entries only, however many subscriptions there are', async () => {
  await superuser.run(
    `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
     select id, 'customer', '', '', n from account, generate_series(1, 50000) n`,
  );
  await superuser.run('vacuum analyze webhook_subscription');
  await superuser.run(`select setval('webhook_queue_position', 50000)`);
  await superuser.run('select * from sequence_states()');
  const [plan = {}] = await superuser.run('explain (analyze, buffers, format json) select * from sequence_states()');
  const [{ Plan: root }] = plan['QUERY PLAN'] as [{ Plan: Record<string, number> }];
  expect((root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0)).toBeLessThan(400);
});
