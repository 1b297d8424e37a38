import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
// Started by lossy-push.ts as a process, which it kills. It receives requests and reconciles at the same time.
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { graphqlPull } from '@deedwire/webhook-receiver/pull';
import { Pool, type PoolClient } from 'pg';
import * as events from '../order-events.ts';

export interface ReconcileProcessOptions {
  readonly databaseUrl: string;
  readonly port: number;
  readonly secret: string;
  readonly url: string;
  readonly credentials: { readonly clientId: string; readonly apiKey: string; readonly organizationId: string };
  readonly subscriptionId: string;
  /** Later events are left to requests: a whole second, in milliseconds since 1970. Null: the process does not reconcile. */
  readonly boundaryMs: number | null;
}

const [, , argument = ''] = process.argv;
const options: ReconcileProcessOptions = JSON.parse(argument);
const pool = new Pool({ connectionString: options.databaseUrl });
pool.on('error', () => {});
const receiver = createWebhookReceiver<typeof events, PoolClient>({
  events,
  prefix: 'X-Service',
  secrets: [options.secret],
  store: postgresStore(pool),
  storeTimeoutMs: 60_000,
  on: {
    'order.placed': {
      '2026-11-01': async (_event, { id, transaction, meta }) => {
        await transaction.query('insert into effect (delivery_id, source) values ($1, $2)', [id, meta.source]);
        await sleep(5);
      },
    },
  },
});
createServer(nodeHandler(receiver)).listen(options.port, '127.0.0.1', () => process.send?.('listening'));
// Ends with the test.
process.on('disconnect', () => process.exit());

const { boundaryMs } = options;
if (boundaryMs !== null) {
  const date = new Date(boundaryMs).toUTCString();
  const pull = graphqlPull({
    prefix: 'X-Service',
    ...options,
    // The clock by which events are young stands still: a page that is read late leaves the same events to requests.
    async fetch(url, init) {
      const response = await fetch(url, init);
      const headers = new Headers(response.headers);
      headers.set('date', date);
      return new Response(response.body, { status: response.status, headers });
    },
  });
  for (;;) {
    await receiver.reconcile(pull, { minAgeMs: 1, leaseMs: 1_000 });
    await sleep(50);
  }
}
