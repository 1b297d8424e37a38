import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import { createWebhookReceiver, type Secrets, type WebhookReceiver } from '@deedwire/webhook-receiver';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { Pool, type PoolClient } from 'pg';
import * as events from '../order-events.ts';
import { recordEffect } from './effects.ts';
import { type Observed, observe } from './observe.ts';

export interface KitReceiverOptions {
  databaseUrl: string;
  secrets: Secrets<unknown>;
  key?: 'event.id' | 'webhook-id';
  /** Runs in the handler before it records the effect. */
  beforeEffect?: (deliveryId: string) => Promise<void>;
}

/** A receiver with PostgreSQL. Its handler of `order.placed` records an effect. `close` also closes its connections. */
export function createKitReceiver({
  databaseUrl,
  secrets,
  key = 'webhook-id',
  beforeEffect = async () => {},
}: KitReceiverOptions): WebhookReceiver {
  const pool = new Pool({ connectionString: databaseUrl });
  const receiver = createWebhookReceiver<typeof events, PoolClient>({
    events,
    prefix: 'X-Service',
    secrets,
    key,
    store: postgresStore(pool),
    // The usual 4.5 s would fail tests on a machine that is busy for so long.
    storeTimeoutMs: 60_000,
    on: {
      'order.placed': {
        '2026-11-01': async (event, { id, transaction }) => {
          await beforeEffect(id);
          await recordEffect(transaction, id, event);
        },
      },
    },
  });
  return {
    ...receiver,
    async close() {
      await receiver.close();
      await pool.end();
    },
  };
}

/** A receiver on a server of Node. */
export interface KitReceiver extends Pick<WebhookReceiver, 'forget'>, Observed {
  /** The callback URL. */
  url: string;
  close(): Promise<void>;
}

export async function startKitReceiver(options: KitReceiverOptions): Promise<KitReceiver> {
  const receiver = createKitReceiver(options);
  const server = createServer(nodeHandler(receiver));
  const observed = observe(server);
  const listening = await listen(server);
  return {
    ...observed,
    url: `http://127.0.0.1:${listening.port}/`,
    forget: receiver.forget,
    async close() {
      await receiver.close();
      await listening.close();
    },
  };
}
