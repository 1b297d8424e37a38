import { createServer } from 'node:http';
import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { Pool } from 'pg';

const { DATABASE_URL, PORT = '4005', WEBHOOK_SECRET = '' } = process.env;

// Without this limit, connecting to a server that does not respond takes for ever.
const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 4_000 });
// Without a listener, a lost connection that is idle would end the process.
pool.on('error', console.error);
await pool.query('create table if not exists referral (id text primary key)');

const store = postgresStore(pool);
await store.createTable();

const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  secrets: [WEBHOOK_SECRET],
  store,
  on: {
    'referral.created': {
      '2026-11-01': async ({ data }, { transaction }) => {
        await transaction.query('insert into referral (id) values ($1)', [data.referralId]);
      },
    },
  },
});

const server = createServer(nodeHandler(receiver)).listen(Number(PORT));

process.once('SIGTERM', async () => {
  // Waits for the handlers.
  await receiver.close();
  server.close();
  // pg waits until the server has closed each connection. One that no longer responds would keep the process alive.
  setTimeout(() => process.exit(), 2_000).unref();
  await pool.end();
});
