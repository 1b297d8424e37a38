import type { UnhandledEvent } from '../../src/handlers.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
import type { Adapter, Running } from './adapters.ts';
import { type Answer, type Delivery, secret, send } from './delivery.ts';
import type { Call, CreateReceiver, Hooks, Mount, Setup } from './setup.ts';

export interface SubjectOptions {
  setup?: Partial<Setup>;
  mount?: Mount;
  /** Only for adapters that run in this process. */
  create?: CreateReceiver;
}

/** A receiver behind an adapter, and what its handlers got. */
export class Subject implements Hooks {
  readonly handled: Call[] = [];
  readonly unhandled: UnhandledEvent[] = [];
  /** Runs in the handler. */
  work: () => Promise<void> | void = () => {};
  /** Runs in `onUnhandled`. */
  unhandledWork: () => Promise<void> | void = () => {};
  running!: Running;

  static async start(
    adapter: Adapter,
    { setup, mount = 'plain', create = createWebhookReceiver }: SubjectOptions = {},
  ): Promise<Subject> {
    const subject = new Subject();
    subject.running = await adapter.start({ setup: { secrets: [secret], ...setup }, mount, create, hooks: subject });
    return subject;
  }

  async handle(call: Call): Promise<void> {
    this.handled.push(call);
    await this.work();
  }

  async handleUnknown(event: UnhandledEvent): Promise<void> {
    this.unhandled.push(event);
    await this.unhandledWork();
  }

  send(delivery: Delivery): Promise<Answer> {
    return send(this.running.url, delivery);
  }

  stop(): Promise<void> {
    return this.running.stop();
  }
}
