import { EventEmitter } from 'node:events';
import type { Pool, PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeptClients } from './kept-clients.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function setUp() {
  const released: [unknown, boolean | undefined][] = [];
  const errors: string[] = [];
  const pool = {
    ending: false,
    waitingCount: 0,
    connects: 0,
    async connect() {
      pool.connects += 1;
      const client = new EventEmitter();
      client.on('error', () => {});
      return Object.assign(client, { release: (isBroken?: boolean) => released.push([client, isBroken]) });
    },
    end: vi.fn<() => Promise<void>>(async () => {}),
  };
  const clients = new KeptClients(pool as unknown as Pool, ({ message }) => errors.push(message));
  return { pool, clients, released, errors };
}

const fail = (client: PoolClient, message: string) => client.emit('error', new Error(message));

test('hands out the connection that was given last', async () => {
  const { pool, clients, released } = setUp();
  const [first, second] = [await clients.take(), await clients.take()];
  clients.give(first, false);
  clients.give(second, false);
  expect(clients.take()).toBe(second);
  expect(clients.take()).toBe(first);
  expect(pool.connects).toBe(2);
  expect(released).toEqual([]);
});

test('gives a connection to the pool if others wait for it', async () => {
  const { pool, clients, released } = setUp();
  const client = await clients.take();
  pool.waitingCount = 1;
  clients.give(client, false);
  expect(released).toEqual([[client, false]]);
});

test('gives connections to the pool that are not used for two seconds, and stops its timer', async () => {
  const { clients, released } = setUp();
  const [used, unused] = [await clients.take(), await clients.take()];
  clients.give(unused, false);
  clients.give(used, false);
  for (let count = 0; count < 4; count += 1) {
    vi.advanceTimersByTime(500);
    clients.give(await clients.take(), false);
  }
  expect(released).toEqual([[unused, false]]);
  vi.advanceTimersByTime(2_000);
  expect(released).toEqual([
    [unused, false],
    [used, false],
  ]);
  expect(vi.getTimerCount()).toBe(0);
});

test('closes a connection that breaks, and reports it if nothing uses it', async () => {
  const { clients, released, errors } = setUp();
  const [idle, busy] = [await clients.take(), await clients.take()];
  clients.give(idle, false);
  fail(idle, 'idle');
  fail(busy, 'busy');
  clients.give(busy, false);
  expect(released).toEqual([
    [idle, true],
    [busy, true],
  ]);
  expect(errors).toEqual(['idle']);
  expect([idle, busy].map((client) => client.listenerCount('error'))).toEqual([1, 1]);
});

test('gives all connections to the pool that ends, including those that come later', async () => {
  const { pool, clients, released } = setUp();
  const [idle, busy] = [await clients.take(), await clients.take()];
  clients.give(idle, false);
  await clients.end();
  expect(pool.end).toHaveBeenCalledOnce();
  pool.ending = true;
  clients.give(busy, false);
  expect(released).toEqual([
    [idle, false],
    [busy, true],
  ]);
});
