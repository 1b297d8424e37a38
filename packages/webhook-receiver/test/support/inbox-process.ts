// Started by full/inbox-processes.test.ts as a process, which it kills.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { postgresInbox } from '../../src/inbox.ts';
import { nodeHandler } from '../../src/node.ts';
import { createInboxReceiver } from '../../src/receiver.ts';

const [, , connectionString, secret = '', retries = '80'] = process.argv;
const pool = new Pool({ connectionString, max: 4 });
// The first delivery finds an open connection.
await pool.query('select 1');
const inbox = postgresInbox<PoolClient>(pool, {
  concurrency: 2,
  pollMs: 20,
  retryDelaysMs: Array.from({ length: Number(retries) }, () => 1_000),
  on: {
    'referral.converted': {
      '2026-11-01': async (_event, { id, transaction }) => {
        await transaction.query('insert into effect (delivery_id) values ($1)', [id]);
        if (id === 'poison') process.kill(process.pid, 'SIGKILL');
        await sleep(20);
        await transaction.query('update effect set finished = true where delivery_id = $1', [id]);
      },
    },
  },
});
inbox.start();
const receiver = createInboxReceiver({ secrets: [secret], inbox });
const server = createServer(nodeHandler(receiver)).listen(0, '127.0.0.1', () => {
  process.send?.(server.address());
});
// Ends with the test.
process.on('disconnect', () => process.exit());
