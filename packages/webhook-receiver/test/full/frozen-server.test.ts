import { createServer } from 'node:http';
import { freezeServer, startPostgres } from '@deedwire/embedded-postgres';
import { listen } from '@deedwire/testing';
import { Pool, type PoolClient } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { nodeHandler } from '../../src/node.ts';
import { postgresStore } from '../../src/postgres.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
import { deliveryOf, handling, secret, send } from '../support/delivery.ts';
import { silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';

// Only a server whose processes all stand still accepts connections and responds to none of them: the kernel accepts them.
// `deadlines.test.ts` stops single sessions, and a relay in place of the server.
test('requests beside a PostgreSQL server that is stopped get 503, and have their effects once it continues', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  // As the README configures it, with shorter times.
  const pool = new Pool({ connectionString: server.url, max: 4, connectionTimeoutMillis: 1_000 });
  pool.on('error', () => {});
  onTestFinished(() => pool.end());
  await pool.query('create table effect (id text not null)');
  const store = postgresStore(pool);
  await store.createTable();
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    store,
    on: handling<PoolClient>((_event, { id, transaction }) =>
      transaction.query('insert into effect values ($1)', [id]),
    ),
    storeTimeoutMs: 1_000,
    log: silent,
  });
  const http = await listen(createServer(nodeHandler(receiver)));
  onTestFinished(() => http.close());
  const ids = Array.from({ length: 12 }, (_, index) => `delivery_${index}`);
  const sendAll = (): Promise<number[]> =>
    Promise.all(
      ids.map(async (id) => (await send(`http://127.0.0.1:${http.port}/webhooks`, deliveryOf({ id }))).status),
    );
  // Sessions that wait in the pool are stopped too.
  await expect
    .poll(async () => (await send(`http://127.0.0.1:${http.port}/webhooks`, deliveryOf({ id: 'before' }))).status)
    .toBe(200);
  const thaw = await freezeServer(server.url);
  onTestFinished(thaw);
  for (let round = 0; round < 2; round += 1) expect(await sendAll()).toEqual(ids.map(() => 503));
  thaw();
  await expect.poll(sendAll).toEqual(ids.map(() => 200));
  const { rows } = await pool.query('select id from effect order by id');
  expect(rows.map(({ id }) => id)).toEqual(['before', ...ids].toSorted());
});
