import '@shopify/shopify-api/adapters/node';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { ApiVersion, DeliveryMethod, shopifyApi } from '@shopify/shopify-api';
import { Pool } from 'pg';

const { DATABASE_URL, PORT = '4005', WEBHOOK_SECRET = '' } = process.env;

const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 4_000 });
pool.on('error', console.error);
await pool.query('create table if not exists product (id bigint primary key)');
await pool.query('create table if not exists receipt (id text primary key, received_at timestamptz default now())');

const shopify = shopifyApi({
  apiKey: process.env.SHOPIFY_API_KEY,
  apiSecretKey: WEBHOOK_SECRET,
  apiVersion: ApiVersion.October26,
  hostName: process.env.HOST_NAME,
  isEmbeddedApp: false,
});
shopify.webhooks.addHandlers({
  PRODUCTS_CREATE: {
    deliveryMethod: DeliveryMethod.Http,
    callbackUrl: '/webhooks',
    async callback(_topic, _shop, body, id) {
      const client = await pool.connect();
      client.on('error', console.error);
      try {
        await client.query('begin');
        const inserted = await client.query('insert into receipt (id) values ($1) on conflict do nothing', [id]);
        if (inserted.rowCount === 1) await client.query('insert into product (id) values ($1)', [JSON.parse(body).id]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.off('error', console.error);
        client.release();
      }
    },
  },
});

const server = createServer(async (request, response) => {
  try {
    await shopify.webhooks.process({ rawBody: await text(request), rawRequest: request, rawResponse: response });
  } catch (error) {
    // It has responded.
    console.error(error.message);
  }
}).listen(Number(PORT));

process.once('SIGTERM', () => {
  server.close(() => pool.end());
});
