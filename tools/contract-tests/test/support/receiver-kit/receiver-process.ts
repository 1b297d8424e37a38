import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
// Started by receiver-cluster.ts: a receiver of several processes that share a port and a database.
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { Pool } from 'pg';
import * as events from '../order-events.ts';
import { recordEffect, recordStart } from './effects.ts';
import type { ClusterMessage } from './receiver-cluster.ts';

const [, , connectionString, secret = '', processes = '1'] = process.argv;
// Long enough that most kills interrupt some handlers.
const handlerMs = 40;

if (cluster.isPrimary) supervise();
else await receive();

/** Replaces each process that ends. */
function supervise(): void {
  cluster.on('listening', ({ process: { pid = 0 } }, { port }) => tell({ kind: 'listening', pid, port }));
  cluster.on('exit', ({ process: { pid = 0, exitCode, signalCode } }) => {
    tell({ kind: 'ended', pid, exitCode, signal: signalCode });
    cluster.fork();
  });
  for (let count = 0; count < Number(processes); count += 1) cluster.fork();
  // Ends with the test.
  process.on('disconnect', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    process.exit();
  });
}

function tell(message: ClusterMessage): void {
  process.send?.(message);
}

async function receive(): Promise<void> {
  const pool = new Pool({ connectionString });
  const starts = new Pool({ connectionString, max: 2 });
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    store: postgresStore(pool),
    on: {
      'order.placed': {
        '2026-11-01': async (event, { id, transaction }) => {
          await recordStart(starts, id);
          await recordEffect(transaction, id, event);
          await sleep(handlerMs);
        },
      },
    },
  });
  const server = createServer(nodeHandler(receiver));
  process.once('SIGTERM', () => {
    void (async () => {
      await receiver.close();
      await once(server.close(), 'close');
      await Promise.all([pool.end(), starts.end()]);
      cluster.worker?.disconnect();
    })();
  });
  server.listen(0, '127.0.0.1');
}
