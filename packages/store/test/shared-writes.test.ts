import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountId, toRecordId } from '@deedwire/core';
import { connect, listen, patientTimeouts, startTcpProxy, type TcpProxy } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import {
  createStore,
  type SharedWrite,
  type Store,
  type StoreOptions,
  StoreUnavailableError,
  UnconfirmedCommitError,
} from '../src/index.ts';
import { createListener } from '../src/notifications/listener.ts';
import type { KeyClaim } from '../src/transactions/idempotency.ts';
import { createServiceDatabase } from './support/database.ts';
import { orderWrite } from './support/order-write.ts';
import { seedAccount } from './support/seed.ts';

const database = await forFile(createServiceDatabase());
const observer = await forFile(connect(database.databaseUrl));
const seeding = createStore({ databaseUrl: database.databaseUrl, applicationName: 'seed' });
const accounts: AccountId[] = [];
for (let number = 0; number < 4; number += 1) accounts.push((await seedAccount(seeding, 'customer')).id);
await seeding.close();

afterEach(() => observer.run('delete from customer_order; delete from idempotency_key'));

function openStore(options: Partial<StoreOptions> = {}): Store {
  const store = createStore({
    tables: ['customer_order'],
    databaseUrl: database.databaseUrl,
    applicationName: 'writer',
    timeouts: patientTimeouts,
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

const account = (number: number): AccountId => accounts[number] ?? toRecordId('0');

function place(
  name: string | null,
  { of = 0, client = 'client', operation = {}, key = null as KeyClaim | null, notify = [] as string[] } = {},
): SharedWrite<string> {
  return orderWrite(account(of), name, { clientId: client, operation, key, notify });
}

const keyOf = (key: string, of = 0): KeyClaim => ({
  accountId: account(of),
  mutation: 'placeOrder',
  key,
  claimId: randomUUID(),
  interfaceName: 'customer',
  inputHash: randomBytes(32),
});

/** The payloads of all notifications. Starts when it resolves. */
async function hear(): Promise<string[]> {
  const payloads: string[] = [];
  const listening = Promise.withResolvers<void>();
  const listener = createListener({
    databaseUrl: database.databaseUrl,
    applicationName: 'listener',
    onWake(payload) {
      if (payload === null) listening.resolve();
      else payloads.push(payload);
    },
    onError: listening.reject,
  });
  onTestFinished(() => listener.close());
  await listening.promise;
  return payloads;
}

const patience = { timeout: 60_000, interval: 5 };

const written = (answer: string) => ({ kind: 'written', answer });
const names = async (): Promise<unknown[]> =>
  (await observer.run('select item from customer_order order by item')).map((row) => row['item']);
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `R${index + 100}`);

/** A transaction that holds the locks of a statement. Returns how to end it. */
async function holdLocks(statement: string, values: readonly unknown[] = []) {
  const holder = await connect(database.databaseUrl);
  onTestFinished(() => holder.close());
  await holder.run('begin');
  await holder.run(statement, values);
  return (end: 'commit' | 'rollback' = 'commit') => holder.run(end);
}

const lockAccounts = (...numbers: number[]) =>
  holdLocks('select from account where id = any($1) for update', [numbers.map(account)]);

test('writes of one turn of the event loop share transactions of at most 16', async () => {
  const store = openStore();
  const results = await Promise.all(numbered(100).map((name) => store.write(place(name))));
  expect(results).toEqual(numbered(100).map(written));
  expect(await names()).toEqual(numbered(100));
  const sizes = await observer.run(
    'select count(*)::int as size from customer_order group by xmin::text order by size',
  );
  expect(sizes.map(({ size }) => size)).toEqual([4, 16, 16, 16, 16, 16, 16]);
});

test('a write alone notifies on its own connection, after the commit', async () => {
  const store = openStore();
  const heard = await hear();
  await store.write(place('alone', { notify: ['7'] }));
  await expect.poll(() => heard, patience).toEqual(['7']);
  const sessions = await observer.run(`select from pg_stat_activity where application_name = 'writer-notify'`);
  expect(sessions).toEqual([]);
});

test('many writes notify at most once for each transaction', async () => {
  const store = createStore({
    databaseUrl: database.databaseUrl,
    tables: ['customer_order'],
    applicationName: 'writer',
  });
  const heard = await hear();
  await Promise.all(numbered(400).map((name) => store.write(place(name, { notify: ['7'] }))));
  await store.close();
  await observer.run(`select pg_notify('deedwire_wake', 'last')`);
  await expect.poll(() => heard, patience).toContain('last');
  const count = heard.filter((payload) => payload === '7').length;
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(25);
});

test('a notification that fails after the commit is sent again on its own connection, and fails no write', async () => {
  const errors: unknown[] = [];
  const store = openStore({ onNotifyError: (error) => errors.push(error) });
  const heard = await hear();
  // It fails there as well.
  const tooLong = 'x'.repeat(8_000);
  expect(await store.write(place('written', { notify: [tooLong] }))).toEqual(written('written'));
  await expect.poll(() => errors, patience).toEqual([expect.objectContaining({ message: 'payload string too long' })]);
  expect(await store.write(place('after', { notify: ['7'] }))).toEqual(written('after'));
  await expect.poll(() => heard, patience).toEqual(['7']);
});

test('does not notify after the commit where a transaction pooler may be', async () => {
  const store = openStore({ directUrl: database.databaseUrl });
  const heard = await hear();
  await store.write(place('pooled', { notify: ['7'] }));
  await expect.poll(() => heard, patience).toEqual(['7']);
});

test('a row that is refused fails its own write only', async () => {
  const store = openStore();
  const batch = [...numbered(20), null, ...numbered(10).map((name) => `S${name}`)];
  const results = await Promise.allSettled(batch.map((name) => store.write(place(name))));
  expect(results.map(({ status }) => status)).toEqual(batch.map((name) => (name === null ? 'rejected' : 'fulfilled')));
  expect(results[20]).toMatchObject({ reason: { code: '23502' } });
  expect(await names()).toEqual(batch.filter((name) => name !== null).toSorted());
});

test('an error in building rows fails its own write only', async () => {
  const store = openStore();
  const failing = {
    ...place('bug'),
    rows(): never {
      throw new TypeError('a bug');
    },
  };
  const writes = [...numbered(8).map((name) => place(name)), failing];
  const results = await Promise.allSettled(writes.map((write) => store.write(write)));
  expect(results.slice(0, 8)).toEqual(numbered(8).map((name) => ({ status: 'fulfilled', value: written(name) })));
  expect(results[8]).toMatchObject({ status: 'rejected', reason: { message: 'a bug' } });
  expect(await names()).toEqual(numbered(8));
});

test('an id that is taken is drawn again', async () => {
  const store = openStore();
  await store.write(place('first'));
  const [row] = await observer.run('select id::text from customer_order');
  let draws = 0;
  const write = place('second');
  const colliding: SharedWrite<string> = {
    ...write,
    rows: (drawn) => write.rows({ ...drawn, ids: (draws += 1) <= 2 ? [String(row?.['id'])] : drawn.ids }),
  };
  expect(await Promise.all([store.write(colliding), store.write(place('third'))])).toEqual([
    written('second'),
    written('third'),
  ]);
  expect(await names()).toEqual(['first', 'second', 'third']);
});

test('an account that another transaction has locked delays its own writes only', async () => {
  const release = await lockAccounts(1);
  const store = openStore({ timeouts: { ...patientTimeouts, lockMs: 60_000 } });
  const ended: string[] = [];
  const write = async (name: string, of: number): Promise<void> => {
    await store.write(place(name, { of }));
    ended.push(name);
  };
  const locked = [write('locked 1', 1), write('locked 2', 1)];
  for (const name of numbered(50)) await write(name, 0);
  expect(ended).toEqual(numbered(50));
  await release();
  await Promise.all(locked);
  expect(await names()).toHaveLength(52);
});

test('an account whose lock is not released in time gets an error, and its next writes share no transaction', async () => {
  const release = await lockAccounts(1);
  const store = openStore({ timeouts: { ...patientTimeouts, lockMs: 100 } });
  await expect(store.write(place('locked', { of: 1 }))).rejects.toThrow(StoreUnavailableError);
  const waiting = Promise.allSettled(numbered(3).map((name) => store.write(place(name, { of: 1 }))));
  // A shared transaction with one of these would be rolled back after 50 ms.
  for (const name of numbered(20)) await store.write(place(name));
  const sizes = await observer.run('select count(*)::int as size from customer_order group by xmin::text');
  expect(sizes).toHaveLength(20);
  await release();
  await waiting;
  expect(await store.write(place('free', { of: 1 }))).toEqual(written('free'));
});

test('accounts that stay locked delay no account whose lock was released', async () => {
  const [release, releaseOne] = [await lockAccounts(0, 1, 2), await lockAccounts(3)];
  const store = openStore({ timeouts: { ...patientTimeouts, lockMs: 200 } });
  for (const held of [0, 1, 2, 3])
    await expect(store.write(place('early', { of: held }))).rejects.toThrow(StoreUnavailableError);
  const locked = [0, 1, 2, 0, 1, 2].map((of) => store.write(place('locked', { of })));
  const released = store.write(place('released', { of: 3 }));
  await releaseOne();
  expect(await Promise.race([...locked, released])).toEqual(written('released'));
  await release();
  expect(await Promise.all(locked)).toHaveLength(6);
});

test.each(['lock table idempotency_key', 'select from account for update'])(
  'writes with keys wait as long as any other statement for another transaction: %s',
  async (lock) => {
    const release = await holdLocks(lock);
    const store = openStore();
    const results = Promise.all(numbered(3).map((name) => store.write(place(name, { key: keyOf(name) }))));
    results.catch(() => {});
    // As long as a migration waits for a lock.
    await sleep(500);
    await release();
    expect(await results).toEqual(numbered(3).map(written));
  },
);

test.each([1, 2])('a key that is used several times at once in %d processes is written once', async (processes) => {
  const stores = Array.from({ length: processes }, () => openStore());
  for (let round = 0; round < 10; round += 1) {
    const results = await Promise.all(
      stores.flatMap((store) =>
        numbered(4).map((name) => store.write(place(`${name} of ${round}`, { key: keyOf(`key ${round}`) }))),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'written')).toHaveLength(1);
  }
  expect(await names()).toHaveLength(10);
  const saved = await observer.run(`select payload->>'name' as name from idempotency_key order by name`);
  expect(saved.map(({ name }) => name)).toEqual(await names());
});

test('a write that waits for another one with its key fails at its own deadline', async () => {
  const silent = await listen(createServer());
  onTestFinished(() => silent.close());
  const connectMs = 1_000;
  const store = openStore({
    databaseUrl: `postgresql://127.0.0.1:${silent.port}/none`,
    timeouts: { ...patientTimeouts, connectMs, statementMs: 10 },
  });
  const failed: string[] = [];
  const write = (name: string, key: string) =>
    store.write(place(name, { key: keyOf(key) })).catch(() => void failed.push(name));
  const waiting = ['1', '2', '3'].map((name) => write(name, 'key'));
  await waiting[0];
  // Its own deadline comes after those of the others.
  await write('later', 'other key');
  expect(failed).toEqual(['1', '2', '3', 'later']);
  await Promise.all(waiting);
});

test('the writes that wait for another one with their key count among the 2,000 that wait', async () => {
  const release = await holdLocks('lock table customer_order in access exclusive mode');
  const store = openStore();
  const writes = Array.from({ length: 2_000 }, () => store.write(place('same', { key: keyOf('key') })));
  await expect(store.write(place('further', { key: keyOf('key') }))).rejects.toThrow(StoreUnavailableError);
  await release();
  const results = await Promise.all(writes);
  expect(results.filter(({ kind }) => kind === 'written')).toHaveLength(1);
  expect(await names()).toEqual(['same']);
});

test('a key that another transaction holds is known, soon and without a wait of others', async () => {
  const release = await holdLocks(
    `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
     values ($1, 'customer', 'placeOrder', 'held', '', gen_random_uuid(), now())`,
    [account(0)],
  );
  const store = openStore({ timeouts: { ...patientTimeouts, lockMs: 60_000 } });
  const results = await Promise.all([
    store.write(place('held', { key: keyOf('held') })),
    ...numbered(20).map((name) => store.write(place(name, { key: keyOf(name) }))),
  ]);
  expect(results).toEqual([{ kind: 'key-known' }, ...numbered(20).map(written)]);
  await release('rollback');
  expect(await store.write(place('held', { key: keyOf('held') }))).toEqual(written('held'));
});

test('a key with a result, one that is older than 24 hours, and a claim that has expired', async () => {
  const store = openStore();
  const use = (name: string) => store.write(place(name, { key: keyOf('key') }));
  expect(await use('first')).toEqual(written('first'));
  expect(await use('second')).toEqual({ kind: 'key-known' });
  await observer.run(`update idempotency_key set created_at = now() - interval '25 hours'`);
  expect(await use('third')).toEqual(written('third'));
  await observer.run(`update idempotency_key set payload = null, claimed_until = now() + interval '1 hour'`);
  expect(await use('fourth')).toEqual({ kind: 'key-known' });
  await observer.run(`update idempotency_key set claimed_until = now() - interval '1 second'`);
  expect(await use('fifth')).toEqual(written('fifth'));
  expect(await names()).toEqual(['fifth', 'first', 'third']);
});

async function openProxied(): Promise<{ store: Store; proxy: TcpProxy }> {
  const proxy = await startTcpProxy(database.databaseUrl);
  onTestFinished(() => proxy.close());
  const store = openStore({ databaseUrl: proxy.url });
  await store.write(place('connected'));
  return { store, proxy };
}

test('a connection that is cut before COMMIT reaches the server writes nothing, and is an error', async () => {
  const { store, proxy } = await openProxied();
  const broken = proxy.breakAt((statement) => statement === 'commit', { when: 'before' });
  const results = await Promise.allSettled(numbered(5).map((name) => store.write(place(name))));
  await broken;
  // One write was alone in the first transaction, the others share the second.
  const failed = results.filter(({ status }) => status === 'rejected');
  expect(failed.length).toBeGreaterThan(0);
  for (const result of failed) expect(result).toMatchObject({ reason: expect.any(StoreUnavailableError) });
  expect(await names()).toHaveLength(1 + 5 - failed.length);
  expect(await store.write(place('after'))).toEqual(written('after'));
});

test('a connection that is cut after COMMIT reached the server is an error, and nothing is written twice', async () => {
  const { store, proxy } = await openProxied();
  const committed = async () => expect.poll(names).toContain('unknown');
  const broken = proxy.breakAt((statement) => statement === 'commit', { when: 'after', act: committed });
  await expect(store.write(place('unknown', { key: keyOf('unknown') }))).rejects.toThrow(UnconfirmedCommitError);
  await broken;
  expect(await store.write(place('unknown', { key: keyOf('unknown') }))).toEqual({ kind: 'key-known' });
  expect(await names()).toEqual(['connected', 'unknown']);
});

test('connections that ended while they were idle are replaced', async () => {
  const { store, proxy } = await openProxied();
  proxy.reset();
  expect(await Promise.all(numbered(40).map((name) => store.write(place(name))))).toEqual(numbered(40).map(written));
  await observer.run(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'writer-writes'`,
  );
  expect(await store.write(place('after'))).toEqual(written('after'));
});

test('writes to a server that does not respond fail at their deadline, and later ones succeed', async () => {
  const proxy = await startTcpProxy(database.databaseUrl);
  onTestFinished(() => proxy.close());
  const timeouts = { ...patientTimeouts, statementMs: 500, connectMs: 500 };
  const store = openStore({ databaseUrl: proxy.url, timeouts });
  await store.write(place('connected'));
  proxy.hang();
  const results = await Promise.allSettled(numbered(40).map((name) => store.write(place(name, { key: keyOf(name) }))));
  const errors: unknown[] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  expect(errors).not.toEqual([]);
  expect(errors.filter((error) => !(error instanceof StoreUnavailableError))).toEqual([]);
  expect(await store.write(place('after'))).toEqual(written('after'));
});

test.each([
  ['prepares its statements', undefined, true],
  ['behind a transaction pooler, prepares none, because others use the same sessions', 'postgres://direct', false],
])('%s', async (_, directUrl, isPrepared) => {
  const proxy = await startTcpProxy(database.databaseUrl);
  onTestFinished(() => proxy.close());
  const store = openStore({ databaseUrl: proxy.url, directUrl });
  const sent = new Set<string>();
  void proxy.breakAt(
    (statement) => {
      sent.add(statement);
      return false;
    },
    { when: 'before' },
  );
  expect(await store.write(place('first', { key: keyOf('first') }))).toEqual(written('first'));
  const count = {
    name: 'count-orders',
    text: 'select count(*)::int as count from customer_order where account_id > $1',
  };
  expect(await store.query(count, ['0'])).toEqual([{ count: 1 }]);
  expect(await store.transaction((transaction) => transaction.query(count, ['0']))).toEqual([{ count: 1 }]);
  // An unnamed statement has no text here.
  expect([sent.has('insert-orders'), sent.has('count-orders'), sent.has('')]).toEqual([
    isPrepared,
    isPrepared,
    !isPrepared,
  ]);
});

test('at most 2,000 writes wait, and the next one is refused at once, unless its operation has written', async () => {
  const store = openStore({ timeouts: { ...patientTimeouts, lockMs: 60_000 } });
  const begun = {};
  await store.write(place('first', { operation: begun }));
  const release = await holdLocks('lock table customer_order in access exclusive mode');
  const isWritten = (name: string, operation = {}): Promise<boolean> =>
    store.write(place(name, { operation })).then(
      () => true,
      (error: unknown) => {
        if (error instanceof StoreUnavailableError) return false;
        throw error;
      },
    );
  const writes = Array.from({ length: 2_100 }, (_, index) => isWritten(`R${index}`));
  const next = isWritten('next', begun);
  expect(await Promise.all(writes.slice(-60))).toEqual(Array.from({ length: 60 }, () => false));
  await release();
  expect(await next).toBe(true);
  const committed = 2 + (await Promise.all(writes)).filter(Boolean).length;
  expect(committed).toBeGreaterThanOrEqual(2_000);
  expect(await names()).toHaveLength(committed);
});

test('close waits until all writes have ended, and refuses later ones', async () => {
  const store = createStore({
    databaseUrl: database.databaseUrl,
    tables: ['customer_order'],
    applicationName: 'writer',
  });
  const results = Promise.all(numbered(40).map((name) => store.write(place(name))));
  await store.close();
  expect(await results).toEqual(numbered(40).map(written));
  await expect(store.write(place('late'))).rejects.toThrow(StoreUnavailableError);
});
