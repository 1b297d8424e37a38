import { randomUUID } from 'node:crypto';
import { append, fromPg } from '@deedwire/append';
import { renderedOrderPlaced } from '@deedwire/core/test-service';
import { Client } from 'pg';

// The process of an application, which a test kills: it inserts orders, each with its event, as fast as it can.

const [databaseUrl = '', account = ''] = process.argv.slice(2);
const client = new Client({ connectionString: databaseUrl });
await client.connect();
for (;;) {
  const id = randomUUID();
  await client.query('begin');
  await client.query('insert into shop_order values ($1)', [id]);
  await append(fromPg(client, { schema: 'public' }), renderedOrderPlaced, account, {
    order: { id: 'gid://service/Order/4711', item: id, note: null },
    placedAt: '2026-11-03T09:30:00.000Z',
  });
  await client.query('commit');
  process.stdout.write('.');
}
