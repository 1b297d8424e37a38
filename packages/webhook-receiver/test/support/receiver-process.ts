import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { nodeHandler } from '../../src/node.ts';
import { postgresStore } from '../../src/postgres.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
// Started by postgres-kill.test.ts as a process, which it kills.
import * as events from './order-events/index.ts';

const [, , connectionString, secret = ''] = process.argv;
const pool = new Pool({ connectionString, max: 4 });
// The first delivery finds an open connection.
await pool.query('select 1');
const store = postgresStore(pool);
const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  secrets: [secret],
  store,
  on: {
    'order.placed': {
      '2026-11-01': async (_event, { id, transaction }) => {
        await transaction.query('insert into effect (delivery_id) values ($1)', [id]);
        await sleep(20);
        await transaction.query('update effect set finished = true where delivery_id = $1', [id]);
      },
    },
  },
});
const server = createServer(nodeHandler(receiver)).listen(0, '127.0.0.1', () => {
  process.send?.(server.address());
});
// Ends with the test.
process.on('disconnect', () => process.exit());
