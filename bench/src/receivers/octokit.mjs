import { createServer } from 'node:http';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { Pool } from 'pg';

const { DATABASE_URL, PORT = '4005', WEBHOOK_SECRET = '' } = process.env;

const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 4_000 });
pool.on('error', console.error);
await pool.query('create table if not exists issue (id bigint primary key)');
await pool.query('create table if not exists receipt (id text primary key, received_at timestamptz default now())');

const webhooks = new Webhooks({ secret: WEBHOOK_SECRET });
webhooks.on('issues.opened', async ({ id, payload }) => {
  const client = await pool.connect();
  client.on('error', console.error);
  try {
    await client.query('begin');
    const inserted = await client.query('insert into receipt (id) values ($1) on conflict do nothing', [id]);
    if (inserted.rowCount === 1) await client.query('insert into issue (id) values ($1)', [payload.issue.id]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.off('error', console.error);
    client.release();
  }
});

const server = createServer(createNodeMiddleware(webhooks, { path: '/webhooks' })).listen(Number(PORT));

process.once('SIGTERM', () => {
  server.close(() => pool.end());
});
