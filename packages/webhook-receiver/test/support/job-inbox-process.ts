import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { missing } from '@deedwire/testing';
import { Pool } from 'pg';
import { nodeHandler } from '../../src/node.ts';
import { createInboxReceiver } from '../../src/receiver.ts';
import { jobLibraries } from './job-libraries.ts';
// Started by job-inbox-kill.test.ts as a process, which it kills. It receives deliveries, or runs their jobs.
import * as events from './order-events/index.ts';

const [, , connectionString = '', secret = '', name, role] = process.argv;
const [, { open }] = jobLibraries.find(([other]) => other === name) ?? missing();
const pool = new Pool({ connectionString, max: 8 });
// The first delivery finds an open connection.
await pool.query('select 1');
const { inbox, start } = await open(pool, {
  events,
  on: {
    'order.placed': {
      '2026-11-01': async (_event, { id, transaction }) => {
        await transaction.query('insert into effect (delivery_id) values ($1)', [id]);
        process.send?.({ handling: id });
        await sleep(500);
        await transaction.query('update effect set finished = true where delivery_id = $1', [id]);
      },
    },
  },
});
if (role === 'jobs') {
  await start();
  process.send?.({ port: 0 });
} else {
  const receiver = createInboxReceiver({ events, prefix: 'X-Service', secrets: [secret], inbox });
  const server = createServer(nodeHandler(receiver)).listen(0, '127.0.0.1', () => {
    process.send?.(server.address());
  });
}
// Ends with the test.
process.on('disconnect', () => process.exit());
