import { terminateBackends } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { Pool, type PoolClient } from 'pg';
import { beforeEach, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import {
  type PostgresStore,
  type PostgresStoreOptions,
  postgresStore,
  type PostgresTransactions,
} from '../../src/postgres.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
import { WorkFailedError } from '../../src/store.ts';
import { nodeAdapter } from '../support/adapters.ts';
import { openDatabase } from '../support/database.ts';
import { deliveryOf, secret } from '../support/delivery.ts';
import { bothRefused, lateResults } from '../support/late-results.ts';
import { library } from '../support/library.ts';
import { logLinesTo } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { Subject } from '../support/subject.ts';

let ids = 0;
let id = '';

const { database, pool } = await openDatabase(
  `create table effect (delivery_id text not null);
   create table single (id int primary key deferrable initially deferred)`,
  { max: 30 },
);
const store = postgresStore(pool);

beforeEach(() => {
  ids += 1;
  id = `delivery_${ids}`;
});

async function effect(transaction: PoolClient): Promise<void> {
  await transaction.query('insert into effect values ($1)', [id]);
}

async function effects(): Promise<number> {
  const { rows } = await pool.query('select from effect where delivery_id = $1', [id]);
  return rows.length;
}

async function isRemembered(): Promise<boolean> {
  const { rows } = await pool.query('select from webhook_receipt where id = $1', [id]);
  return rows.length === 1;
}

test('has one effect for 50 concurrent calls', async () => {
  const results = await Promise.all(Array.from({ length: 50 }, () => store.once(id, effect)));
  expect(results.filter((result) => result === 'processed')).toHaveLength(1);
  expect(await effects()).toBe(1);
  expect(await store.once(id, effect)).toBe('duplicate');
});

function poolOf(max: number): Pool {
  const small = new Pool({ connectionString: database.databaseUrl, max });
  small.on('error', () => {});
  onTestFinished(() => small.end());
  return small;
}

test('the transactions are the clients of the pool, or those of the other library', () => {
  expectTypeOf(postgresStore(poolOf(2))).toEqualTypeOf<PostgresStore<PoolClient>>();
  expectTypeOf(postgresStore(library(pool))).toEqualTypeOf<PostgresStore<{ client: PoolClient }>>();
});

const storeOn = (max: number, options?: PostgresStoreOptions) => () => postgresStore(poolOf(max), options);

describe('handlers that use the pool of the store', () => {
  test('do not wait for each other for ever', async () => {
    const shared = poolOf(3);
    const shares = postgresStore(shared);
    const results = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        shares.once(`${id}_${index}`, async (transaction) => {
          await shared.query('select 1');
          await effect(transaction);
        }),
      ),
    );
    expect(new Set(results)).toEqual(new Set(['processed']));
    expect(await effects()).toBe(9);
  });

  test('are refused after 2 s if there is no connection for them', async () => {
    const shares = postgresStore(poolOf(2));
    const gate = Promise.withResolvers<void>();
    const slow = shares.once(`${id}_slow`, () => gate.promise);
    await expect(shares.once(id, effect)).rejects.toThrow(
      'concurrency is 1, and the limit of all stores and inboxes of this pool is 1.',
    );
    gate.resolve();
    expect(await slow).toBe('processed');
    expect(await shares.once(id, effect)).toBe('processed');
  });

  test('are refused at the start if the pool is too small', () => {
    expect(storeOn(1)).toThrow('The pool has 1 connection. It needs at least 2');
    expect(storeOn(5, { concurrency: 5 })).toThrow('concurrency is 5, and the pool has 5 connections. It must be less');
    for (const concurrency of [0, 1.5, Number.NaN])
      expect(storeOn(5, { concurrency })).toThrow('concurrency must be an integer of at least 1.');
    expect(storeOn(2)).not.toThrow();
    expect(() => postgresStore(library(pool), { concurrency: 100 })).not.toThrow();
  });
});

test('has one effect for 50 concurrent calls of a library at REPEATABLE READ', async () => {
  const other = postgresStore(library(pool));
  const results = await Promise.all(Array.from({ length: 50 }, () => other.once(id, ({ client }) => effect(client))));
  expect(results.filter((result) => result === 'processed')).toHaveLength(1);
  for (const result of results) expect(['processed', 'duplicate', 'busy']).toContain(result);
  expect(await effects()).toBe(1);
});

test('is busy within the lock timeout while another transaction processes the delivery', async () => {
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const first = store.once(id, async (transaction) => {
    await effect(transaction);
    started.resolve();
    await gate.promise;
  });
  await started.promise;
  const startMs = performance.now();
  // It resolves before the first call can end.
  const second = await store.once(id, effect).finally(() => gate.resolve());
  expect(second).toBe('busy');
  expect(performance.now() - startMs).toBeGreaterThan(150);
  expect(await first).toBe('processed');
  expect(await effects()).toBe(1);
});

test('waits at most 200 ms for another transaction', async () => {
  const other = library(pool);
  const timeouts: unknown[] = [];
  const observed = postgresStore<{ client: PoolClient }>({
    ...other,
    async query(transaction, text, values) {
      if (text.startsWith('insert into')) timeouts.push(...(await other.query(transaction, 'show lock_timeout', [])));
      return other.query(transaction, text, values);
    },
  });
  expect(await observed.once(id, ({ client }) => effect(client))).toBe('processed');
  expect(timeouts).toEqual([{ lock_timeout: '200ms' }]);
});

test('keeps the lock timeout that the handler would have without it', async () => {
  await store.once(id, async (transaction) => {
    const { rows } = await transaction.query('show lock_timeout');
    expect(rows).toEqual([{ lock_timeout: '0' }]);
  });
});

test('rolls back a handler that throws, throws its error, and processes the next call', async () => {
  const failed = store.once(id, async (transaction) => {
    await effect(transaction);
    throw new RangeError('The handler failed.');
  });
  await expect(failed).rejects.toThrow(new RangeError('The handler failed.'));
  expect([await effects(), await isRemembered()]).toEqual([0, false]);
  expect(await store.once(id, effect)).toBe('processed');
  expect(await effects()).toBe(1);
});

test('throws an error of the handler that is its own cause', async () => {
  const failure = new Error('The disk is full.');
  failure.cause = failure;
  await expect(store.once(id, () => Promise.reject(failure))).rejects.toBe(failure);
});

test('fails if the handler ignores a failed statement', async () => {
  const swallow = async (transaction: PoolClient): Promise<void> => {
    await effect(transaction);
    await transaction.query('insert into missing values (1)').catch(() => {});
  };
  await expect(store.once(id, swallow)).rejects.toThrow(WorkFailedError);
  const wrapped = await postgresStore(library(pool))
    .once(id, ({ client }) => swallow(client))
    .catch((error: unknown) => error);
  expect(wrapped).toBeInstanceOf(WorkFailedError);
  expect([await effects(), await isRemembered()]).toEqual([0, false]);
  expect(await store.once(id, effect)).toBe('processed');
});

test('accepts a statement that fails in a savepoint', async () => {
  const result = await store.once(id, async (transaction) => {
    await effect(transaction);
    await transaction.query('savepoint before');
    await transaction.query('insert into missing values (1)').catch(() => transaction.query('rollback to before'));
  });
  expect([result, await effects()]).toEqual(['processed', 1]);
});

test.each(['release', 'end'] as const)('fails if the handler calls %s of its client', async (method) => {
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) =>
      store.once(`${id}_${index}`, async (transaction) => {
        await effect(transaction);
        await transaction[method]();
      }),
    ),
  );
  for (const result of results)
    expect(result).toMatchObject({
      reason: { message: expect.stringMatching(/^The store or the inbox needs the connection/) },
    });
  expect(await effects()).toBe(0);
});

test('replaces a connection to a server that is read-only since a failover', async () => {
  const failing = new Pool({ connectionString: database.databaseUrl, max: 2 });
  onTestFinished(() => failing.end());
  await failing.query('set default_transaction_read_only = on');
  const failed = postgresStore(failing);
  await expect(failed.once(id, effect)).rejects.toThrow('cannot execute INSERT in a read-only transaction');
  expect(await failed.once(id, effect)).toBe('processed');
});

test.each(['commit', 'rollback'])('fails if the handler sends %s', async (statement) => {
  const failed = store.once(id, async (transaction) => {
    await effect(transaction);
    await transaction.query(statement);
  });
  await expect(failed).rejects.toThrow(WorkFailedError);
  // Either both or neither.
  expect(await effects()).toBe((await isRemembered()) ? 1 : 0);
});

test.each(['commit', 'rollback'])('says so if the handler sends %s and then throws', async (statement) => {
  const failure = new Error('The second step failed.');
  const failed = store.once(id, async (transaction) => {
    await effect(transaction);
    await transaction.query(statement);
    throw failure;
  });
  await expect(failed).rejects.toMatchObject({
    name: 'WorkFailedError',
    message: expect.stringMatching(/^The handler ended the transaction/),
    cause: failure,
  });
  expect(await effects()).toBe((await isRemembered()) ? 1 : 0);
});

describe('a statement of a handler that has ended is refused', () => {
  test('of a client of pg', async () => {
    expect(await lateResults(store, id, (client) => async () => effect(client))).toEqual(bothRefused);
    expect(await effects()).toBe(0);
  });

  test('of a method that the handler has kept', async () => {
    const results = await lateResults(store, id, (client) => {
      const query = client.query.bind(client);
      return async () => query('insert into effect values ($1)', [id]);
    });
    expect([results, await effects()]).toEqual([bothRefused, 0]);
  });

  test('with a rejected promise by query of pg, so that its catch is called', async () => {
    // Not an async function, which would turn an error that is thrown into a rejection.
    const results = await lateResults(
      store,
      id,
      (client) => () => client.query('insert into effect values ($1)', [id]),
    );
    expect([results, await effects()]).toEqual([bothRefused, 0]);
  });

  test('of a library', async () => {
    const results = await lateResults(postgresStore(library(pool)), id, (opened) => async () => effect(opened.client));
    expect([results, await effects()]).toEqual([bothRefused, 0]);
  });

  test('also while another delivery has its connection', async () => {
    const small = postgresStore(poolOf(2));
    const clients: PoolClient[] = [];
    await small.once(`${id}_first`, async (transaction) => void clients.push(transaction));
    await small.once(id, async () => {
      expect(clients).toHaveLength(1);
      for (const client of clients)
        await expect(effect(client)).rejects.toThrow('The transaction of this handler has ended');
    });
    expect(await effects()).toBe(0);
  });
});

/** As a helper that logs statements does. */
async function logged(transaction: PoolClient, isRestored: boolean): Promise<void> {
  const query: typeof transaction.query = Reflect.get(transaction, 'query');
  const statements: unknown[] = [];
  Object.assign(transaction, {
    query: (...values: unknown[]) => {
      statements.push(values[0]);
      return Reflect.apply(query, transaction, values);
    },
  });
  await effect(transaction);
  expect(statements).toHaveLength(1);
  if (isRestored) Object.assign(transaction, { query });
}

test('a handler may replace a method of its transaction for a while, or for good', async () => {
  const small = postgresStore(poolOf(2));
  for (const isRestored of [true, false])
    expect(await small.once(`${id}_${isRestored}`, (transaction) => logged(transaction, isRestored))).toBe('processed');
  expect(await effects()).toBe(2);
});

test('refuses what is neither a pool nor functions, without showing it', async () => {
  const url = 'postgres://login:password@127.0.0.1/database';
  for (const wrong of [url, undefined, null, {}, { transaction: () => {}, query: {} }])
    // @ts-expect-error -- as in JavaScript
    expect(() => postgresStore(wrong)).toThrow(
      new TypeError('Pass a Pool of pg, or an object with the functions transaction and query.'),
    );
  class OwnPool extends Pool {
    transaction(): string {
      return 'a method of the application';
    }
  }
  const own = new OwnPool({ connectionString: database.databaseUrl });
  onTestFinished(() => own.end());
  expect(await postgresStore(own).once(id, effect)).toBe('processed');
});

test('responds only after the commit', async () => {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const other = library(pool);
  let transactions = 0;
  const slow: PostgresTransactions<{ client: PoolClient }> = {
    ...other,
    transaction(work) {
      transactions += 1;
      // The transaction of the first request waits before its commit.
      return transactions > 1
        ? other.transaction(work)
        : other.transaction(async (opened) => {
            const result = await work(opened);
            reached.resolve();
            await gate.promise;
            return result;
          });
    },
  };
  const subject = await Subject.start(nodeAdapter, {
    create: () =>
      createWebhookReceiver({
        events,
        prefix: 'X-Service',
        secrets: [secret],
        store: postgresStore(slow),
        on: { 'order.placed': { '2026-11-01': (_event, context) => effect(context.transaction.client) } },
      }),
  });
  let isAnswered = false;
  const answer = subject.send(deliveryOf({ id })).finally(() => {
    isAnswered = true;
  });
  try {
    await reached.promise;
    expect(await subject.send(deliveryOf({ id }))).toMatchObject({ status: 409, json: { code: 'BUSY' } });
    expect([isAnswered, await effects()]).toEqual([false, 0]);
    gate.resolve();
    expect(await answer).toMatchObject({ status: 200, json: { result: 'processed' } });
    expect(await effects()).toBe(1);
  } finally {
    gate.resolve();
    await subject.stop();
  }
});

test('remembers nothing if the commit fails', async () => {
  const failed = store.once(id, async (transaction) => {
    await effect(transaction);
    await transaction.query('insert into single values (1), (1)');
  });
  await expect(failed).rejects.toThrow(/single_pkey/);
  expect([await effects(), await isRemembered()]).toEqual([0, false]);
});

test('survives a connection that is lost between two statements of a handler', async () => {
  const failed = store.once(id, async (transaction) => {
    await effect(transaction);
    await terminateBackends(database.databaseUrl);
    // The pool drops its other connections, which the next calls would take.
    await eventually(() => expect(pool.totalCount).toBe(1));
  });
  await expect(failed).rejects.toThrow(/terminat|is not queryable/);
  expect(await effects()).toBe(0);
  expect(await store.once(id, effect)).toBe('processed');
});

test('survives a connection that is lost in the read that makes it free', async () => {
  const small = poolOf(2);
  const other = await small.connect();
  const client = await small.connect();
  const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows;
  const rowsOfBackend = async (): Promise<unknown[]> =>
    (await pool.query('select state, query from pg_stat_activity where pid = $1', [pid])).rows;
  client.connection.stream.pause();
  client.release();
  const text = 'select 42 as answer';
  const query = small.query(text);
  const delivery = postgresStore(small).once(id, effect);
  // It has been idle before, too.
  await eventually(async () => expect(await rowsOfBackend()).toEqual([{ state: 'idle', query: text }]));
  await pool.query('select pg_terminate_backend($1)', [pid]);
  await eventually(async () => expect(await rowsOfBackend()).toEqual([]));
  client.connection.stream.resume();
  expect((await query).rows).toEqual([{ answer: 42 }]);
  await expect(delivery).rejects.toThrow(/terminat|is not queryable/);
  other.release();
  expect(await postgresStore(small).once(id, effect)).toBe('processed');
});

test('uses a pool whose connect knows no callback', async () => {
  const promises = { query: () => Promise.reject(new Error('Not used.')), connect: () => pool.connect() };
  expect(await postgresStore(promises).once(id, effect)).toBe('processed');
});

test('throws if the database is unavailable', async () => {
  const unavailable = new Pool({ host: '127.0.0.1', port: 1 });
  let isStarted = false;
  const result = postgresStore(unavailable).once(id, async () => {
    isStarted = true;
  });
  await expect(result).rejects.toThrow('ECONNREFUSED');
  expect(isStarted).toBe(false);
  await unavailable.end();
});

test('processes deliveries again after forget, by id and by time', async () => {
  await store.once(id, effect);
  expect(await store.forget({ ids: [id, 'unknown'] })).toBe(1);
  expect(await store.once(id, effect)).toBe('processed');
  expect(await store.forget({ since: new Date(Date.now() + 60_000) })).toBe(0);
  expect(await store.forget({ since: new Date(Date.now() - 60_000) })).toBeGreaterThanOrEqual(1);
  expect(await store.once(id, effect)).toBe('processed');
  expect(await effects()).toBe(3);
});

test('removes ids after 40 days', async () => {
  await pool.query(
    `insert into webhook_receipt values ('old', now() - interval '41 days'), ('kept', now() - interval '39 days')`,
  );
  // Each store removes them at its first delivery and then once an hour.
  await postgresStore(pool).once(id, effect);
  await eventually(async () => {
    const { rows } = await pool.query(`select id from webhook_receipt where id in ('old', 'kept')`);
    expect(rows).toEqual([{ id: 'kept' }]);
  });
});

test.each([
  ['select, insert', [{ id: 'expired' }]],
  ['select, insert, delete', [{ id: 'expired' }]],
  ['select, insert, update, delete', []],
])('with a login that has the rights %s, processes a delivery, and logs if old ids stay', async (rights, left) => {
  const login = `with_${rights.replaceAll(', ', '_')}`;
  await pool.query(`create role ${login} login password 'test'; grant ${rights} on webhook_receipt to ${login}`);
  await pool.query(`insert into webhook_receipt values ('expired', now() - interval '41 days')`);
  const url = Object.assign(new URL(database.databaseUrl), { username: login, password: 'test' });
  const limited = new Pool({ connectionString: url.href });
  const lines: string[] = [];
  onTestFinished(async () => {
    await limited.end();
    await pool.query(`delete from webhook_receipt where id = 'expired'; drop owned by ${login}; drop role ${login}`);
  });
  expect(await postgresStore(limited, { log: logLinesTo(lines) }).once(id, async () => {})).toBe('processed');
  const line = expect.stringContaining(
    'CLEAN_UP_FAILED: Rows of "webhook_receipt" that are older than 40 days could not be removed. Grant this login what "npx @deedwire/webhook-receiver sql store --grant-to <login>" prints. error: permission denied for table webhook_receipt',
  );
  const old = `select id from webhook_receipt where id = 'expired'`;
  await eventually(async () => {
    expect((await pool.query(old)).rows).toEqual(left);
    expect(lines).toEqual(left.map(() => line));
  });
});

test('creates the table once if 20 processes start together, including with the longest name', async () => {
  const other = postgresStore(pool, { table: 'a'.repeat(50) });
  await Promise.all(Array.from({ length: 20 }, () => other.createTable()));
  expect(await other.once(id, effect)).toBe('processed');
});

test('quotes the name of the table, and refuses what is none', async () => {
  await pool.query('create schema "in""box"');
  const other = postgresStore(pool, { table: 'in"box.my receipts' });
  await other.createTable();
  expect(await other.once(id, effect)).toBe('processed');
  expect(await other.once(id, effect)).toBe('duplicate');
  for (const table of ['', 'a.b.c', 'a.', 'a'.repeat(64)])
    expect(() => postgresStore(pool, { table })).toThrow(/^table must be/);
});
