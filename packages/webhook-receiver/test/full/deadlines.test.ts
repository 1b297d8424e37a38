import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, freezeSessions, terminateBackends, type TestDatabase } from '@deedwire/embedded-postgres';
import { listen } from '@deedwire/testing';
import { Redis } from 'ioredis';
import { Pool, type PoolConfig } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ReceivedBody } from '../../src/body.ts';
import { within } from '../../src/deadline.ts';
import type { ReceiverLog } from '../../src/log.ts';
import { memoryStore } from '../../src/memory.ts';
import type { WebhookReceiverOptions } from '../../src/options.ts';
import { connectionOf } from '../../src/postgres-connection.ts';
import { cleanUpOf, postgresTable } from '../../src/postgres-table.ts';
import { postgresStore } from '../../src/postgres.ts';
import { createInboxReceiver, createWebhookReceiver, type WebhookReceiver } from '../../src/receiver.ts';
import { redisStore } from '../../src/redis.ts';
import { testSecret } from '../../src/testing.ts';
import type { WebhookInbox } from '../../src/webhook-inbox.ts';
import { deadPorts } from '../support/dead-ports.ts';
import { logTo, silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { signedRequest } from '../support/requests.ts';

const never = (): Promise<never> => new Promise(() => {});
/** Long enough that only a hang reaches it. */
const generousMs = 60_000;

/** What a handler does that stops when its signal aborts. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The handler stopped.')));
  });

const inTime = <Result>(result: Promise<Result>): Promise<Result> =>
  within(generousMs, 'It did not end.', () => result);

interface Logged {
  message: string;
  cause: unknown;
}

const loggedTo = (lines: Logged[]): ReceiverLog =>
  logTo((message, { err }) => void lines.push({ message, cause: err }));

type Options<Transaction> = Partial<Omit<WebhookReceiverOptions<typeof events, Transaction, unknown>, 'events'>>;
type OnCreated<Transaction> = (context: { transaction: Transaction; signal: AbortSignal }) => unknown;

function receiverOf<Transaction = undefined>(
  store: WebhookReceiverOptions<typeof events, Transaction, unknown>['store'],
  onPlaced: OnCreated<Transaction>,
  options: Options<Transaction> = {},
): WebhookReceiver {
  return createWebhookReceiver<typeof events, Transaction>({
    events,
    prefix: 'X-Service',
    secrets: [testSecret],
    store,
    on: { 'order.placed': { '2026-11-01': (_event, context) => onPlaced(context) } },
    log: silent,
    ...options,
  });
}

async function deliver(receiver: WebhookReceiver, id: string): Promise<{ status: number; code: unknown }> {
  const response = await inTime(receiver.fetch(await signedRequest('order.placed', '2026-11-01', { id })));
  const json: unknown = await response.json();
  return { status: response.status, code: typeof json === 'object' && json !== null ? Object.values(json)[0] : json };
}

test('a handler that hangs is given up, and its delivery can be processed again', async () => {
  const lines: Logged[] = [];
  const signals: AbortSignal[] = [];
  let works: OnCreated<undefined> = ({ signal }) => {
    signals.push(signal);
    return never();
  };
  const receiver = receiverOf(memoryStore(), (context) => works(context), {
    handlerTimeoutMs: 50,
    log: loggedTo(lines),
  });
  expect(await deliver(receiver, 'hung')).toEqual({ status: 500, code: 'HANDLER_FAILED' });
  expect(signals[0]?.aborted).toBe(true);
  expect(lines).toEqual([
    {
      message: expect.stringContaining('HANDLER_FAILED'),
      cause: expect.objectContaining({ message: 'The handler took longer than handlerTimeoutMs (50 ms).' }),
    },
  ]);
  works = () => {};
  expect(await deliver(receiver, 'hung')).toEqual({ status: 200, code: 'processed' });
});

test('close ends although a handler, a store or an inbox hangs', async () => {
  const lines: Logged[] = [];
  const handling = Promise.withResolvers<void>();
  const hang = (): Promise<never> => {
    handling.resolve();
    return never();
  };
  const inbox: WebhookInbox = { handles: () => true, accept: never, forget: never };
  const options = { secrets: [testSecret], log: loggedTo(lines), storeTimeoutMs: 100 };
  const receivers = [
    receiverOf(memoryStore(), hang, { log: loggedTo(lines) }),
    createWebhookReceiver({ events, ...options, store: { once: never, forget: never }, on: {} }),
    createInboxReceiver({ events, ...options, inbox }),
  ];
  const responses = receivers.map((receiver, index) => deliver(receiver, `closed_${index}`));
  await handling.promise;
  await Promise.all(receivers.map((receiver) => inTime(receiver.close({ timeoutMs: 50 }))));
  await Promise.all(responses);
  expect(lines.map(({ message }) => message)).toContain('CLOSING: Something did not end in time.');
  await expect(receivers[0]?.close({ timeoutMs: 0 })).rejects.toThrow(
    'timeoutMs must be above 0 and below 2,147,483,648.',
  );
});

test('close ends although a body has not arrived, and then starts no handler', async () => {
  const lines: Logged[] = [];
  let handled = 0;
  const receiver = receiverOf(memoryStore(), () => (handled += 1), { log: loggedTo(lines) });
  const request = await signedRequest('order.placed', '2026-11-01', { id: 'slow' });
  const bytes = new Uint8Array(await request.arrayBuffer());
  const arrival = Promise.withResolvers<ReceivedBody>();
  const headers = Object.fromEntries(request.headers);
  const secretsLoaded = Promise.withResolvers<readonly string[]>();
  const loading = receiverOf(memoryStore(), () => (handled += 1), {
    secrets: () => secretsLoaded.promise,
    log: loggedTo(lines),
  });
  const waiting = receiver.receive({ method: 'POST', headers, body: () => arrival.promise });
  const loaded = loading.receive({ method: 'POST', headers, body: async () => ({ kind: 'bytes', bytes }) });
  await receiver.close({ timeoutMs: 50 });
  expect((await waiting).status).toBe(408);
  arrival.resolve({ kind: 'bytes', bytes });
  const closed = loading.close({ timeoutMs: 50 });
  await expect.poll(() => lines.filter(({ message }) => message.startsWith('CLOSING')).length).toBe(2);
  secretsLoaded.resolve([testSecret]);
  await inTime(closed);
  expect([(await loaded).status, handled]).toEqual([500, 0]);
});

test('a store, an inbox or a function for secrets that hangs is given up', async () => {
  const options = { secrets: [testSecret], storeTimeoutMs: 50, log: silent };
  const inbox: WebhookInbox = { handles: () => true, accept: never, forget: never };
  const unavailable = { status: 503, code: 'STORE_UNAVAILABLE' };
  const hanging = receiverOf({ once: never, forget: never }, () => {}, { storeTimeoutMs: 50 });
  expect(await deliver(hanging, 'store')).toEqual(unavailable);
  expect(await deliver(createInboxReceiver({ events, ...options, inbox }), 'inbox')).toEqual(unavailable);
  const secretless = receiverOf(memoryStore(), () => {}, { secrets: never, storeTimeoutMs: 50 });
  expect(await deliver(secretless, 'secrets')).toEqual({ status: 500, code: 'SECRET_INVALID' });
});

test('the time of a handler does not count as time of the store', async () => {
  const receiver = receiverOf(memoryStore(), () => sleep(300), { storeTimeoutMs: 100 });
  expect(await deliver(receiver, 'slow')).toEqual({ status: 200, code: 'processed' });
});

test('a Redis that does not respond is given up, and a handler does not start after the response', async () => {
  const replies: ((reply: null) => void)[] = [];
  const commands: string[][] = [];
  const store = redisStore({
    send(command) {
      commands.push(command);
      return new Promise((resolve) => replies.push(resolve));
    },
  });
  let handled = 0;
  const receiver = receiverOf(store, () => (handled += 1), { storeTimeoutMs: 50 });
  expect(await deliver(receiver, 'dead')).toEqual({ status: 503, code: 'STORE_UNAVAILABLE' });
  // Redis responds after all: the lease is released, and nothing else happens.
  replies[0]?.(null);
  await expect
    .poll(() => commands.map(([name, script]) => [name, script?.includes('del')]))
    .toContainEqual(['EVAL', true]);
  expect(handled).toBe(0);
});

test('a dead Redis is given up with ioredis', async () => {
  const ports = await deadPorts();
  let handled = 0;
  const results = await Promise.all(
    ports.map((port) => {
      const ioredis = new Redis({ port, maxRetriesPerRequest: 1 });
      ioredis.on('error', () => {});
      onTestFinished(() => ioredis.disconnect());
      const store = redisStore({ send: ([name, ...parameters]) => ioredis.call(name, ...parameters) });
      return deliver(
        receiverOf(store, () => (handled += 1), { storeTimeoutMs: 300 }),
        'dead',
      );
    }),
  );
  expect(results).toEqual(ports.map(() => ({ status: 503, code: 'STORE_UNAVAILABLE' })));
  expect(handled).toBe(0);
});

test('a handler whose lease in Redis cannot be renewed is aborted', async () => {
  const lines: Logged[] = [];
  // Redis responds to the first command only.
  let commands = 0;
  const store = redisStore({ send: () => (commands++ === 0 ? Promise.resolve(null) : never()), leaseMs: 1_000 });
  const receiver = receiverOf(store, ({ signal }) => aborted(signal), { log: loggedTo(lines), storeTimeoutMs: 100 });
  expect(await deliver(receiver, 'lost')).toEqual({ status: 503, code: 'STORE_UNAVAILABLE' });
});

test.each(['bodyTimeoutMs', 'handlerTimeoutMs', 'storeTimeoutMs'])('%s must be a time', (name) => {
  for (const value of [0, -1, Number.NaN, Infinity])
    expect(() => receiverOf(memoryStore(), () => {}, { [name]: value })).toThrow(`${name} must be above 0`);
});

describe('PostgreSQL', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase({
      template: 'webhook_receiver_deadlines',
      async prepare(databaseUrl) {
        const pool = new Pool({ connectionString: databaseUrl });
        await postgresStore(pool).createTable();
        await pool.query('create table effect (name text not null)');
        await pool.end();
      },
    });
  });

  afterAll(() => database.drop());

  function poolOf(name: string, config: PoolConfig = {}): Pool {
    const pool = new Pool({ connectionString: database.databaseUrl, application_name: name, max: 3, ...config });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    return pool;
  }

  test('that is frozen is given up, and used again when it continues', async () => {
    const name = 'receiver_frozen';
    const pool = poolOf(name);
    const receiver = receiverOf(postgresStore(pool), () => {}, { storeTimeoutMs: 8_000 });
    expect(await deliver(receiver, 'before')).toEqual({ status: 200, code: 'processed' });
    // Old ids are removed after the response, on the same connection, which the pool passes on in the next tick.
    await sleep(0);
    await expect.poll(() => pool.idleCount).toBe(1);
    const thaw = await freezeSessions(database.databaseUrl, name);
    onTestFinished(thaw);
    const frozen = await Promise.all([1, 2, 3].map((index) => deliver(receiver, `frozen_${index}`)));
    // One gets the frozen connection. New ones are not frozen.
    expect(frozen.filter(({ code }) => code === 'STORE_UNAVAILABLE')).toHaveLength(1);
    thaw();
    await expect
      .poll(async () => [await deliver(receiver, 'frozen_1'), await deliver(receiver, 'frozen_2')], {
        timeout: generousMs,
      })
      .toEqual([expect.objectContaining({ status: 200 }), expect.objectContaining({ status: 200 })]);
  });

  test.each([
    [
      'the server ends it',
      {},
      () => terminateBackends(database.databaseUrl),
      /terminating connection due to administrator/,
    ],
    ['it is idle for too long', { idle_in_transaction_session_timeout: 100 }, () => {}, /idle-in-transaction timeout/],
  ])('aborts the signal of a handler whose connection is lost because %s', async (_, config, lose, reason) => {
    const lines: Logged[] = [];
    const pool = poolOf('receiver_lost', config);
    const receiver = receiverOf(postgresStore(pool), ({ signal }) => Promise.all([aborted(signal), lose()]), {
      log: loggedTo(lines),
    });
    expect(await deliver(receiver, 'lost')).toEqual({ status: 503, code: 'STORE_UNAVAILABLE' });
    expect(lines).toEqual([
      {
        message: expect.stringContaining('STORE_UNAVAILABLE'),
        cause: expect.objectContaining({ message: expect.stringMatching(reason) }),
      },
    ]);
  });

  test('that accepts connections and does not respond is given up, and used again when it responds', async () => {
    const { hostname, port } = new URL(database.databaseUrl);
    let isSilent = true;
    const relay = await listen(
      createServer((socket) => {
        socket.on('error', () => {});
        if (isSilent) return;
        const upstream = connect(Number(port), hostname).on('error', () => {});
        socket.pipe(upstream).pipe(socket);
      }),
    );
    const pool = poolOf('receiver_silent', {
      connectionString: Object.assign(new URL(database.databaseUrl), { host: `127.0.0.1:${relay.port}` }).href,
      connectionTimeoutMillis: 500,
    });
    const receiver = receiverOf(postgresStore(pool), () => {}, { storeTimeoutMs: 300 });
    const ids = [1, 2, 3, 4, 5].map((index) => `silent_${index}`);
    expect(await Promise.all(ids.map((id) => deliver(receiver, id)))).toEqual(
      ids.map(() => ({ status: 503, code: 'STORE_UNAVAILABLE' })),
    );
    isSilent = false;
    for (const id of ids)
      await expect
        .poll(() => deliver(receiver, id), { timeout: generousMs })
        .toEqual({ status: 200, code: expect.stringMatching(/processed|duplicate/) });
    await relay.close();
  });

  test('gets its connection back closed if old ids cannot be removed in time', async () => {
    const locking = poolOf('receiver_locking');
    const client = await locking.connect();
    await client.query('begin; lock table webhook_receipt');
    const pool = poolOf('receiver_clean_up');
    const closed = new Promise((resolve) => pool.once('remove', resolve));
    const lines: Logged[] = [];
    const table = postgresTable('store', 'webhook_receipt', [], 'received_at');
    cleanUpOf(connectionOf(pool), table, 'received_at', loggedTo(lines), 100)();
    await inTime(closed);
    await client.query('rollback');
    client.release();
    expect(pool.totalCount).toBe(0);
    const message =
      'CLEAN_UP_FAILED: Rows of "webhook_receipt" that are older than 40 days could not be removed. The next attempt follows in an hour.';
    await expect.poll(() => lines).toEqual([{ message, cause: expect.any(Error) }]);
  });

  test('gets its connection back closed if a handler hangs in a statement, and keeps nothing of it', async () => {
    const pool = poolOf('receiver_hung');
    const receiver = receiverOf(
      postgresStore(pool),
      async ({ transaction }) => {
        await transaction.query(`insert into effect values ('hung')`);
        await transaction.query('select pg_sleep(60)');
      },
      { handlerTimeoutMs: 300 },
    );
    const closed = new Promise((resolve) => pool.once('remove', resolve));
    expect(await deliver(receiver, 'hung')).toEqual({ status: 500, code: 'HANDLER_FAILED' });
    await inTime(closed);
    const { rows } = await pool.query(`select from effect where name = 'hung'`);
    expect(rows).toEqual([]);
  });
});
