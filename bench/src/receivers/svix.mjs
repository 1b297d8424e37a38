import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Pool } from 'pg';
import { Webhook } from 'svix';

const { DATABASE_URL, PORT = '4005', WEBHOOK_SECRET = '' } = process.env;

const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 4_000 });
pool.on('error', console.error);
await pool.query('create table if not exists referral (id text primary key)');
await pool.query('create table if not exists receipt (id text primary key, received_at timestamptz default now())');

const webhook = new Webhook(WEBHOOK_SECRET);

async function handle(id, { type, data }) {
  const client = await pool.connect();
  client.on('error', console.error);
  try {
    await client.query('begin');
    const inserted = await client.query('insert into receipt (id) values ($1) on conflict do nothing', [id]);
    if (inserted.rowCount === 1 && type === 'referral.created')
      await client.query('insert into referral (id) values ($1)', [data.referralId]);
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
  const body = await text(request);
  try {
    webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  const message = JSON.parse(body);
  if ('verification_token' in message) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    return;
  }
  await handle(request.headers['webhook-id'], message);
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
