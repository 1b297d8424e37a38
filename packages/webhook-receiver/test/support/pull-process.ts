// Started by reconcile.test.ts as a process, which it kills.
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { postgresStore } from '../../src/postgres.ts';
import { graphqlPull } from '../../src/pull.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
import { credentials, subscriptionId } from './pull-server.ts';

const [, , connectionString, url = ''] = process.argv;
const pool = new Pool({ connectionString, max: 4 });
const receiver = createWebhookReceiver({
  store: postgresStore(pool),
  on: {
    'referral.converted': {
      '2026-11-01': async (_event, { id, transaction }) => {
        await transaction.query('insert into effect (id) values ($1)', [id]);
        await sleep(1);
      },
    },
  },
});
// Ends with the test.
process.on('disconnect', () => process.exit());
const pull = graphqlPull({ url, credentials, subscriptionId, waitSeconds: 20 });
for (;;) await receiver.reconcile(pull, { leaseMs: 1_000 });
