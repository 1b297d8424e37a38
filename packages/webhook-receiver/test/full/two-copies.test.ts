import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { listen } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { Hono } from 'hono';
import { Pool, type PoolClient } from 'pg';
import { afterAll, expect, test } from 'vitest';
import type * as honoModule from '../../src/hono.ts';
import type * as mainModule from '../../src/index.ts';
import type * as lambdaModule from '../../src/lambda.ts';
import type * as memoryModule from '../../src/memory.ts';
import type * as nodeModule from '../../src/node.ts';
import type * as postgresModule from '../../src/postgres.ts';
import type * as testingModule from '../../src/testing.ts';
import { installBuiltPackages } from '../support/built-packages.ts';
import { asRequest, placed, deliveryOf, handling, secret, send } from '../support/delivery.ts';
import { silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';

const built = await installBuiltPackages();
const copied = await mkdtemp(join(tmpdir(), 'webhook-receiver-copied-'));
await cp(built.folder, copied, { recursive: true });
const first = await load(built.folder);
const second = await load(copied);
const database = await forFile(createTestDatabase({ template: 'webhook_receiver_copies', prepare: async () => {} }));

afterAll(async () => {
  await Promise.all([built.remove(), rm(copied, { recursive: true })]);
});

/** The modules of one installed copy. */
async function load(folder: string) {
  const dist = join(folder, 'node_modules/@deedwire/webhook-receiver/dist');
  const of = async <Module>(name: string): Promise<Module> => import(pathToFileURL(join(dist, `${name}.js`)).href);
  return {
    main: await of<typeof mainModule>('index'),
    hono: await of<typeof honoModule>('hono'),
    lambda: await of<typeof lambdaModule>('lambda'),
    memory: await of<typeof memoryModule>('memory'),
    node: await of<typeof nodeModule>('node'),
    postgres: await of<typeof postgresModule>('postgres'),
    testing: await of<typeof testingModule>('testing'),
  };
}

test('loads two copies, whose errors recognize each other', () => {
  const error = new first.main.WorkFailedError('The work failed.');
  expect(first.main.WorkFailedError).not.toBe(second.main.WorkFailedError);
  expect(error).not.toBeInstanceOf(second.main.WorkFailedError);
  expect(second.main.WorkFailedError.isInstance(error)).toBe(true);
});

test('the command names a package that is missing', async () => {
  const bin = join(built.folder, 'node_modules/@deedwire/webhook-receiver/dist/bin.js');
  const args = [bin, 'move-inbox', 'graphile-worker'];
  const env = { ...process.env, DATABASE_URL: database.databaseUrl };
  await expect(promisify(execFile)(process.execPath, args, { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^deedwire-webhook-receiver: [^]*: Cannot\s+find\s+package\s+'pg'\.\s+Install\s+the\s+package\.\n$/,
    ),
  });
});

test('processes a delivery once with receivers of both copies on one store, behind adapters of the other copy', async () => {
  const store = first.memory.memoryStore();
  const handled: string[] = [];
  const options = {
    events,
    secrets: [secret],
    store,
    on: handling<undefined>((_event, { id }) => handled.push(id)),
    log: silent,
  };
  const receivers = [first.main.createWebhookReceiver(options), second.main.createWebhookReceiver(options)] as const;
  const servers = await Promise.all([
    listen(createServer(second.node.nodeHandler(receivers[0]))),
    listen(createServer(first.node.nodeHandler(receivers[1]))),
  ]);
  const delivery = deliveryOf({ id: 'shared' });
  const answers = await Promise.all(
    Array.from({ length: 25 }, () =>
      servers.map(({ port }) => send(`http://127.0.0.1:${port}/webhooks`, delivery)),
    ).flat(),
  );
  expect(answers.filter(({ text }) => text === '{"result":"processed"}')).toHaveLength(1);
  for (const { status } of answers) expect([200, 409]).toContain(status);
  const app = new Hono().post('/webhooks', second.hono.honoHandler(receivers[0]));
  expect(await (await app.request(asRequest(delivery))).json()).toEqual({ result: 'duplicate' });
  const handle = first.lambda.lambdaHandler(receivers[1]);
  const headers = Object.fromEntries(asRequest(delivery).headers);
  const event = { httpMethod: 'POST', headers, body: Buffer.from(delivery.body).toString() };
  expect(await handle(event)).toMatchObject({ statusCode: 200, body: '{"result":"duplicate"}' });
  expect(await receivers[1].forget({ ids: ['shared'] })).toBe(1);
  expect(await handle(event)).toMatchObject({ statusCode: 200, body: '{"result":"processed"}' });
  expect(handled).toEqual(['shared', 'shared']);
  await Promise.all(servers.map((server) => server.close()));
});

test('responds 500, not 503, to a failed transaction in the PostgreSQL store of the other copy', async () => {
  const pool = new Pool({ connectionString: database.databaseUrl });
  const store = first.postgres.postgresStore(pool);
  await store.createTable();
  const receiver = second.main.createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [second.testing.testSecret],
    store,
    on: handling<PoolClient>((_event, { transaction }) => transaction.query('select 1 / 0').catch(() => {})),
    log: silent,
  });
  const response = await receiver.fetch(
    await second.testing.signedRequest(events, 'order.placed', '2026-11-01', placed.data),
  );
  await pool.end();
  expect([response.status, await response.json()]).toEqual([500, { code: 'HANDLER_FAILED' }]);
});

test('signs requests for tests with one secret in both copies', async () => {
  const receiver = second.main.createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [second.testing.testSecret],
    store: first.memory.memoryStore(),
    on: { 'order.placed': { '2026-11-01': () => {} } },
  });
  const response = await receiver.fetch(
    await first.testing.signedRequest(events, 'order.placed', '2026-11-01', placed.data),
  );
  expect(await response.json()).toEqual({ result: 'processed' });
});
