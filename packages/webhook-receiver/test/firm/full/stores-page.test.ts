import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadEvents } from '../../../src/cli/event-package.ts';
import { postgresStore } from '../../../src/postgres.ts';
import { type BuiltPackages, installBuiltPackages } from '../../support/built-packages.ts';
import { deliveryOf, placed, secret, send } from '../../support/delivery.ts';
import { installRuntimes, startWorker, workerd } from '../../support/runtimes.ts';

let built: BuiltPackages;
let installed: boolean;

// The timeout guards against hanging: a slow connection takes minutes for the runtime.
beforeAll(async () => {
  [built, installed] = await Promise.all([
    installBuiltPackages(['webhook-contract', 'webhook-events'], ['pg']),
    installRuntimes([workerd]),
  ]);
}, 900_000);

beforeEach(({ skip }) => skip(!installed, 'The runtime is not installed.'));

afterAll(() => built.remove());

const page = await readFile(new URL('../../../docs/stores.md', import.meta.url), 'utf8');
const [, block = ''] = /^## PostgreSQL on Workers$.*?^```ts\n(.*?)^```$/ms.exec(page) ?? [];
const [, route = ''] = /`(\(context\) => honoHandler.*?)`/.exec(page) ?? [];
const [, type = '', version = ''] = /'([a-z_.]+)': \{\s+'([\d-]+)'/.exec(block) ?? [];
const [, table = ''] = /insert into (\w+)/.exec(block) ?? [];
const { examples } = await loadEvents(fileURLToPath(new URL('../../../../webhook-events', import.meta.url)));
const body = { ...placed, type, version, ...examples.get(`${type}/${version}`) };
const ofRequest = 'workersHandler(receiverOfRequest(bindings))';

/** Programs for Workers. */
const workers = {
  'as the page shows it': block,
  'as the page shows it for Hono': `
    import { Hono } from 'hono';
    import { honoHandler } from '@deedwire/webhook-receiver/hono';
    ${block.replace('export default', 'export const worker =')}
    export default new Hono().post('/webhooks', ${route});`,
  'with a pool of all requests, as programs for Node have it': `
    let receiver;
    ${block.replace(ofRequest, 'workersHandler((receiver ??= receiverOfRequest(bindings)))')}`,
};

describe('workerd, with PostgreSQL', () => {
  test.each(Object.entries(workers))(
    'processes each of ten deliveries once, at its first attempt, %s',
    async (_, source) => {
      const database = await createTestDatabase({
        template: 'webhook_receiver_worker',
        prepare: async () => {},
      });
      const pool = new Pool({ connectionString: database.databaseUrl });
      await pool.query(`create table ${table} (id text)`);
      await postgresStore(pool).createTable();
      const worker = await startWorker(built.folder, source, {
        WEBHOOK_SECRET: secret,
        HYPERDRIVE: { connectionString: database.databaseUrl },
      });
      const answers: unknown[] = [];
      for (let index = 0; index < 20; index += 1) {
        const delivery = deliveryOf({ id: `delivery_${index % 10}`, body });
        const { status, json } = await send(`http://127.0.0.1:${worker.port}/webhooks`, delivery);
        answers.push([status, json]);
      }
      expect(answers).toEqual([
        ...Array.from({ length: 10 }, () => [200, { result: 'processed' }]),
        ...Array.from({ length: 10 }, () => [200, { result: 'duplicate' }]),
      ]);
      expect((await pool.query(`select from ${table}`)).rowCount).toBe(10);
      // None stays open.
      await expect
        .poll(
          async () => (await pool.query('select from pg_stat_activity where datname = current_database()')).rowCount,
        )
        .toBe(1);
      await worker.stop();
      await pool.end();
      await database.drop();
    },
  );
});
