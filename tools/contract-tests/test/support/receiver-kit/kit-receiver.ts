import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import { createWebhookReceiver, type WebhookReceiver } from '@deedwire/webhook-receiver';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { Pool, type PoolClient } from 'pg';
import { recordEffect } from './effects.ts';

/** A receiver on a server of Node, with PostgreSQL. Its handler of `referral.created` records an effect. */
export interface KitReceiver extends Pick<WebhookReceiver, 'forget'> {
  /** The callback URL. */
  url: string;
  /** Everything that the receiver responded to, in the order of the responses. */
  responses: readonly KitResponse[];
  close(): Promise<void>;
}

export interface KitResponse {
  webhookId: string;
  /** Undefined for a handshake. */
  subscriptionId: string | undefined;
  status: number;
}

export interface KitReceiverOptions {
  databaseUrl: string;
  secrets: readonly string[];
  /** Runs in the handler before it records the effect. */
  beforeEffect?: (deliveryId: string) => Promise<void>;
}

export async function startKitReceiver(options: KitReceiverOptions): Promise<KitReceiver> {
  const { databaseUrl, secrets, beforeEffect = async () => {} } = options;
  const pool = new Pool({ connectionString: databaseUrl });
  const responses: KitResponse[] = [];
  const receiver = createWebhookReceiver({
    secrets,
    store: postgresStore<PoolClient>(pool),
    on: {
      'referral.created': {
        '2026-11-01': async (event, { id, transaction }) => {
          await beforeEffect(id);
          await recordEffect(transaction, id, event);
        },
      },
    },
  });
  const handle = nodeHandler(receiver);
  const server = await listen(
    createServer((request, response) => {
      response.on('finish', () => {
        const { 'webhook-id': webhookId, 'x-service-webhook-subscription-id': subscriptionId } = request.headers;
        responses.push({
          webhookId: String(webhookId),
          subscriptionId: subscriptionId?.toString(),
          status: response.statusCode,
        });
      });
      handle(request, response);
    }),
  );
  return {
    url: `http://127.0.0.1:${server.port}/`,
    responses,
    forget: receiver.forget,
    async close() {
      await receiver.close();
      await server.close();
      await pool.end();
    },
  };
}
