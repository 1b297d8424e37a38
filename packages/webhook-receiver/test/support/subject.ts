import type { UnhandledEvent } from '../../src/handlers.ts';
import { memoryStore } from '../../src/memory.ts';
import { createWebhookReceiver, type WebhookReceiver, type WebhookReceiverOptions } from '../../src/receiver.ts';
import type { Adapter, Mount, Running } from './adapters.ts';
import { type Answer, type Delivery, secret, send } from './delivery.ts';

export type Options = WebhookReceiverOptions<undefined, unknown>;
export type CreateReceiver = (options: Options) => WebhookReceiver;

export interface Call {
  readonly event: UnhandledEvent;
  readonly id: string;
  readonly unsigned: unknown;
  readonly signal: AbortSignal;
}

/** A receiver behind an adapter, and what its handlers and its log got. */
export class Subject {
  readonly handled: Call[] = [];
  readonly unhandled: UnhandledEvent[] = [];
  readonly logged: string[] = [];
  /** Runs in the handler. */
  work: () => Promise<void> | void = () => {};
  receiver!: WebhookReceiver;
  running!: Running;

  static async start(
    adapter: Adapter,
    create: CreateReceiver = createWebhookReceiver,
    options: Partial<Options> = {},
    mount: Mount = 'plain',
  ): Promise<Subject> {
    const subject = new Subject();
    subject.receiver = create({
      secrets: [secret],
      store: memoryStore(),
      on: {
        'referral.converted': {
          '2026-11-01': async (event, { id, signal, meta }) => {
            subject.handled.push({ event, id, signal, unsigned: meta.unsigned });
            await subject.work();
          },
        },
      },
      onUnhandled: (event) => {
        subject.unhandled.push(event);
      },
      log: {
        error: (message, error) => {
          subject.logged.push(`${message} ${error instanceof Error ? (error.stack ?? '') : JSON.stringify(error)}`);
        },
      },
      ...options,
    });
    subject.running = await adapter.start(subject.receiver, mount);
    return subject;
  }

  send(delivery: Delivery): Promise<Answer> {
    return send(this.running.url, delivery);
  }

  stop(): Promise<void> {
    return this.running.stop();
  }
}
