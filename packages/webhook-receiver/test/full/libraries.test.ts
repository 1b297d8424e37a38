import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileBlocks, installApart, receiverKitBlock } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import type { Pool } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { PostgresStore } from '../../src/postgres.ts';
import { graphqlPull } from '../../src/pull.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
import { redisStore, type RedisStoreOptions } from '../../src/redis.ts';
import { openDatabase } from '../support/database.ts';
import { deadPorts } from '../support/dead-ports.ts';
import { secret } from '../support/delivery.ts';
import { bothRefused, lateResults } from '../support/late-results.ts';
import { silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { credentials, PullServer, subscriptionId } from '../support/pull-server.ts';
import { effectsAcrossHang, startRelay } from '../support/redis-relay.ts';
import { isWithoutRedis, startRedis } from '../support/redis-server.ts';
import { signedRequest } from '../support/requests.ts';

// Kysely, Drizzle and node-redis, which have 30 MB, and which only this file uses.

const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
const { folder } = await forFile(installApart('receiver'));
await mkdir(join(folder, 'node_modules/@deedwire'));
await symlink(packageFolder, join(folder, 'node_modules/@deedwire/webhook-receiver'), 'dir');
await symlink(join(packageFolder, '../webhook-events'), join(folder, 'node_modules/@deedwire/webhook-events'), 'dir');
for (const name of ['kyselyStore', 'drizzleStore'])
  await writeFile(join(folder, `${name}.ts`), receiverKitBlock(`export function ${name}`));

await writeFile(
  join(folder, 'libraries.js'),
  `import { createClient } from '@redis/client';
   import { drizzle } from 'drizzle-orm/node-postgres';
   import { Kysely, PostgresDialect, sql } from 'kysely';
   import { drizzleStore } from './drizzleStore.ts';
   import { kyselyStore } from './kyselyStore.ts';
   export const ofKysely = (pool) => kyselyStore(new Kysely({ dialect: new PostgresDialect({ pool }) }));
   export const ofDrizzle = (pool) => drizzleStore(drizzle(pool));
   export const runByKysely = (transaction, statement) => sql.raw(statement).execute(transaction);
   export const runByDrizzle = (transaction, statement) => transaction.execute(statement);
   export { createClient };`,
);

interface DrizzleTransaction {
  execute(statement: string): Promise<unknown>;
  transaction<Result>(work: (savepoint: DrizzleTransaction) => Promise<Result>): Promise<Result>;
}

interface NodeRedis {
  on(event: 'error', listener: () => void): void;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand: RedisStoreOptions['send'];
}

const { ofKysely, ofDrizzle, runByKysely, runByDrizzle, createClient } = (await import(
  join(folder, 'libraries.js')
)) as {
  ofKysely: (pool: Pool) => PostgresStore<object>;
  ofDrizzle: (pool: Pool) => PostgresStore<DrizzleTransaction>;
  runByKysely: (transaction: object, statement: string) => Promise<unknown>;
  runByDrizzle: (transaction: object, statement: string) => Promise<unknown>;
  createClient: (options: object) => NodeRedis;
};

const { pool } = await openDatabase('create table effect (delivery_id text not null)', { max: 30 });

let ids = 0;
let id = '';
beforeEach(() => {
  ids += 1;
  id = `delivery_${ids}`;
});

const insert = (): string => `insert into effect values ('${id}')`;

async function effects(): Promise<number> {
  return (await pool.query('select from effect where delivery_id = $1', [id])).rows.length;
}

test('the blocks of the page compile', async () => {
  expect(await compileBlocks(folder, '*.ts')).toBe('');
});

const libraries: [string, PostgresStore<object>, typeof runByKysely][] = [
  ['Kysely', ofKysely(pool), runByKysely],
  ['Drizzle', ofDrizzle(pool), runByDrizzle],
];

const effectOfDrizzle = async (transaction: DrizzleTransaction) => void (await transaction.execute(insert()));

test.each(libraries)('%s runs as documented', async (_, store, run) => {
  const effect = async (transaction: object) => void (await run(transaction, insert()));
  const thrown = store.once(id, async (transaction) => {
    await effect(transaction);
    throw new RangeError('failed');
  });
  await expect(thrown).rejects.toThrow(RangeError);
  const failed = store.once(id, async (transaction) => {
    await effect(transaction);
    await run(transaction, 'select 1/0');
  });
  await expect(failed).rejects.toThrow(/division by zero|select 1\/0/);
  expect(await effects()).toBe(0);
  const results = await Promise.all(Array.from({ length: 9 }, () => store.once(id, effect)));
  expect(results.filter((result) => result === 'processed')).toHaveLength(1);
  expect([await store.once(id, effect), await effects()]).toEqual(['duplicate', 1]);
  expect(await store.forget({ ids: [id, 'unknown'] })).toBe(1);
  expect([await store.once(id, effect), await effects()]).toEqual(['processed', 2]);
});

describe('Drizzle', () => {
  test('writes in the transaction of the handler and in a savepoint', async () => {
    const result = await ofDrizzle(pool).once(id, async (transaction) => {
      await effectOfDrizzle(transaction);
      await transaction.transaction(effectOfDrizzle);
    });
    expect([result, await effects()]).toEqual(['processed', 2]);
  });

  test('gets an error for a statement of a handler that has ended', async () => {
    const results = await lateResults(ofDrizzle(pool), id, (opened) => () => effectOfDrizzle(opened));
    expect([results, await effects()]).toEqual([bothRefused, 0]);
  });

  test('gets an error for a statement in a savepoint of a handler that has ended', async () => {
    const results = await lateResults(ofDrizzle(pool), id, (opened) => {
      const savepoint = opened.transaction(async (inner) => inner);
      return async () => effectOfDrizzle(await savepoint);
    });
    expect([results, await effects()]).toEqual([bothRefused, 0]);
  });
});

function openClient(options: object): NodeRedis {
  const client = createClient(options);
  client.on('error', () => {});
  onTestFinished(() => client.destroy());
  return client;
}

describe.skipIf(isWithoutRedis)('node-redis', () => {
  test('opens another connection when one no longer responds', async () => {
    const redis = await forTest(startRedis());
    const relay = await startRelay(redis);
    const socket = { port: relay.port, socketTimeout: 500, reconnectStrategy: 100 };
    const client = openClient({ disableOfflineQueue: true, socket });
    await client.connect();
    expect(await effectsAcrossHang(relay, (command) => client.sendCommand(command))).toBe(2);
  });

  test('keeps the position of a receiver that reconciles', async () => {
    const [redis, server] = await Promise.all([forTest(startRedis()), forTest(new PullServer().start())]);
    const client = openClient({ socket: { port: redis.client.options.port } });
    await client.connect();
    const receiver = createWebhookReceiver({
      events,
      prefix: 'X-Service',
      secrets: [secret],
      store: redisStore({ send: (command) => client.sendCommand(command) }),
      on: { 'order.placed': { '2026-11-01': () => {} } },
      log: silent,
    });
    const pull = graphqlPull({ prefix: 'X-Service', url: server.url, credentials, subscriptionId });
    server.add(250);
    expect(await receiver.reconcile(pull)).toMatchObject({ seen: 250, processed: 250, watermark: 250 });
    server.add(3);
    expect(await receiver.reconcile(pull)).toMatchObject({ seen: 3, processed: 3, watermark: 253 });
    expect(await receiver.forget({ since: new Date(0) })).toBe(253);
  });

  test('is given up while Redis is dead', async () => {
    for (const port of await deadPorts()) {
      const client = openClient({ socket: { port, reconnectStrategy: 50 } });
      client.connect().catch(() => {});
      const receiver = createWebhookReceiver({
        events,
        prefix: 'X-Service',
        secrets: [secret],
        store: redisStore({ send: (command) => client.sendCommand(command) }),
        on: { 'order.placed': { '2026-11-01': () => expect.unreachable() } },
        log: silent,
        storeTimeoutMs: 300,
      });
      const response = await receiver.fetch(await signedRequest('order.placed', '2026-11-01', { secret, id }));
      expect([response.status, await response.json()]).toEqual([503, { code: 'STORE_UNAVAILABLE' }]);
    }
  });
});
