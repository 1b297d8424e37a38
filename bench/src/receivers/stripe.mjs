import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Pool } from 'pg';
import { Stripe } from 'stripe';

const { DATABASE_URL, PORT = '4005', WEBHOOK_SECRET = '' } = process.env;

const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 4_000 });
pool.on('error', console.error);
await pool.query('create table if not exists customer (id text primary key)');
await pool.query('create table if not exists receipt (id text primary key, received_at timestamptz default now())');

const { webhooks } = new Stripe(process.env.STRIPE_API_KEY);

async function handle({ id, type, data }) {
  const client = await pool.connect();
  client.on('error', console.error);
  try {
    await client.query('begin');
    const inserted = await client.query('insert into receipt (id) values ($1) on conflict do nothing', [id]);
    if (inserted.rowCount === 1 && type === 'customer.created')
      await client.query('insert into customer (id) values ($1)', [data.object.id]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.off('error', console.error);
    client.release();
  }
}

async function respond(request, response) {
  const body = await buffer(request);
  let event;
  try {
    event = webhooks.constructEvent(body, request.headers['stripe-signature'], WEBHOOK_SECRET);
  } catch {
    response.writeHead(400).end();
    return;
  }
  await handle(event);
  response.writeHead(200).end();
}

const server = createServer((request, response) => {
  respond(request, response).catch((error) => {
    console.error(error);
    response.writeHead(500).end();
  });
}).listen(Number(PORT));

process.once('SIGTERM', () => {
  server.close(() => pool.end());
});
