import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import type { Pool, PoolClient } from 'pg';
import type { HandlerContext } from '../../src/handlers.ts';
import { postgresInbox, type PostgresInbox, type PostgresInboxOptions } from '../../src/inbox.ts';
import { nodeHandler } from '../../src/node.ts';
import { createInboxReceiver, type WebhookReceiver } from '../../src/receiver.ts';
import { type Answer, type Delivery, secret, send } from './delivery.ts';

/** A server with an inbox, and what its handler and its log got. */
export class InboxSubject {
  readonly handled: string[] = [];
  readonly logged: string[] = [];
  /** Runs in the handler, after it has made its change. */
  work: (context: HandlerContext<PoolClient>) => Promise<void> | void = () => {};
  readonly inbox: PostgresInbox;
  readonly receiver: WebhookReceiver;
  #url = '';
  #stop = async (): Promise<void> => {};

  constructor(pool: Pool, options: Partial<PostgresInboxOptions<PoolClient>> = {}) {
    const log = {
      error: (message: string, error: unknown) => {
        this.logged.push(`${message} ${error instanceof Error ? (error.stack ?? '') : JSON.stringify(error)}`);
      },
    };
    this.inbox = postgresInbox<PoolClient>(pool, {
      on: {
        'referral.converted': {
          '2026-11-01': async (_event, context) => {
            this.handled.push(context.id);
            await context.transaction.query('insert into effect values ($1)', [context.id]);
            await this.work(context);
          },
        },
      },
      pollMs: 20,
      retryDelaysMs: [20, 20, 20],
      log,
      ...options,
    });
    this.receiver = createInboxReceiver({ secrets: [secret], inbox: this.inbox, log });
  }

  async listen(): Promise<this> {
    const listening = await listen(createServer(nodeHandler(this.receiver)));
    this.#url = `http://127.0.0.1:${listening.port}/`;
    this.#stop = () => listening.close();
    return this;
  }

  send(delivery: Delivery): Promise<Answer> {
    return send(this.#url, delivery);
  }

  async stop(): Promise<void> {
    await this.receiver.close();
    await this.#stop();
  }
}
