import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, freezeSessions, type TestDatabase } from '@deedwire/embedded-postgres';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { within } from '../src/deadline.ts';
import { memoryStore } from '../src/memory.ts';
import { postgresStore } from '../src/postgres.ts';
import {
  createInboxReceiver,
  createWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from '../src/receiver.ts';
import { redisStore } from '../src/redis.ts';
import { signedRequest, testSecret } from '../src/testing.ts';
import type { WebhookInbox } from '../src/webhook-inbox.ts';

const never = (): Promise<never> => new Promise(() => {});
/** Long enough that only a hang reaches it. */
const generousMs = 20_000;

const inTime = <Result>(result: Promise<Result>): Promise<Result> =>
  within(generousMs, 'It did not end.', () => result);

interface Logged {
  message: string;
  cause: unknown;
}

function loggedTo(lines: Logged[]) {
  return { error: (message: string, cause?: unknown) => void lines.push({ message, cause }) };
}

type Options<Transaction> = Partial<WebhookReceiverOptions<Transaction, unknown>>;
type OnCreated<Transaction> = (context: { transaction: Transaction; signal: AbortSignal }) => unknown;

function receiverOf<Transaction = undefined>(
  store: WebhookReceiverOptions<Transaction, unknown>['store'],
  onCreated: OnCreated<Transaction>,
  options: Options<Transaction> = {},
): WebhookReceiver {
  return createWebhookReceiver<Transaction>({
    secrets: [testSecret],
    store,
    on: { 'referral.created': { '2026-11-01': (_event, context) => onCreated(context) } },
    log: { error: () => {} },
    ...options,
  });
}

async function deliver(receiver: WebhookReceiver, id: string): Promise<{ status: number; code: unknown }> {
  const response = await inTime(receiver.fetch(await signedRequest('referral.created', '2026-11-01', { id })));
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
    createWebhookReceiver({ ...options, store: { once: never, forget: never }, on: {} }),
    createInboxReceiver({ ...options, inbox }),
  ];
  const responses = receivers.map((receiver, index) => deliver(receiver, `closed_${index}`));
  await handling.promise;
  await Promise.all(receivers.map((receiver) => inTime(receiver.close({ timeoutMs: 50 }))));
  await Promise.all(responses);
  expect(lines.map(({ message }) => message)).toContain('CLOSING: Something did not end in time.');
  await expect(receivers[0]?.close({ timeoutMs: 0 })).rejects.toThrow(
    'timeoutMs must be a number above 0 and below 2,147,483,648.',
  );
});

test('a store, an inbox or a function for secrets that hangs is given up', async () => {
  const options = { secrets: [testSecret], storeTimeoutMs: 50, log: { error: () => {} } };
  const inbox: WebhookInbox = { handles: () => true, accept: never, forget: never };
  const unavailable = { status: 503, code: 'STORE_UNAVAILABLE' };
  const hanging = receiverOf({ once: never, forget: never }, () => {}, { storeTimeoutMs: 50 });
  expect(await deliver(hanging, 'store')).toEqual(unavailable);
  expect(await deliver(createInboxReceiver({ ...options, inbox }), 'inbox')).toEqual(unavailable);
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

test.each(['bodyTimeoutMs', 'handlerTimeoutMs', 'storeTimeoutMs'])('%s must be a time', (name) => {
  for (const value of [0, -1, Number.NaN, Infinity])
    expect(() => receiverOf(memoryStore(), () => {}, { [name]: value })).toThrow(`${name} must be a number above 0`);
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

  function poolOf(name: string): Pool {
    const pool = new Pool({ connectionString: database.databaseUrl, application_name: name, max: 3 });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    return pool;
  }

  test('that is frozen is given up, and used again when it continues', async () => {
    const name = 'receiver_frozen';
    const pool = poolOf(name);
    const receiver = receiverOf(postgresStore(pool), () => {}, { storeTimeoutMs: 2_000 });
    expect(await deliver(receiver, 'before')).toEqual({ status: 200, code: 'processed' });
    // Old ids are removed after the response, on the same connection.
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
