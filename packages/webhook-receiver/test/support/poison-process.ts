import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { postgresStore } from '../../src/postgres.ts';
import { graphqlPull } from '../../src/pull.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
import { silent } from './log.ts';
// started by full/poison.test.ts as a process, which one event ends.
import * as events from './order-events/index.ts';
import { credentials, subscriptionId } from './pull-server.ts';

const [, , connectionString, url = '', poison = '', action = '', nowMs = '', maxAttempts = ''] = process.argv;
// A repeated effect of `reconcile` is an error. `reprocess` repeats those of a run that was killed.
const onConflict = action === 'reprocess' ? 'on conflict do nothing' : '';
// A start that takes long must not make a held event due.
Date.now = () => Number(nowMs);
const pool = new Pool({ connectionString, max: 10 });
const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  store: postgresStore(pool),
  on: {
    'order.placed': {
      '2026-11-01': async (_event, { id, transaction }) => {
        await transaction.query(`insert into effect (id) values ($1) ${onConflict}`, [id]);
        if (!id.endsWith(`/${poison}`)) return sleep(1);
        // Outside of the transaction.
        await pool.query('insert into call (id) values ($1)', [id]);
        // As the system does when there is no memory.
        process.kill(process.pid, 'SIGKILL');
        await sleep(60_000);
      },
    },
  },
  log: silent,
});
const pull = graphqlPull({ prefix: 'X-Service', url, credentials, subscriptionId });
const report =
  action === 'reprocess'
    ? await receiver.reprocess(pull, { since: new Date(0), concurrency: 4 })
    : await receiver.reconcile(pull, { leaseMs: 1_000, maxAttempts: Number(maxAttempts), concurrency: 4 });
process.send?.(report);
await pool.end();
process.disconnect?.();
