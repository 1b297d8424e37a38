import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import * as events from '@deedwire/webhook-events';
import {
  createWebhookReceiver,
  type HandlerContext,
  type Handlers,
  type ReceiverResponse,
} from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';

export interface SampleReceiverOptions {
  secret: string;
  port: number;
  /** Called with the lines that the terminal shows for a request. */
  print: (text: string) => void;
}

export type SampleReceiver = Awaited<ReturnType<typeof startSampleReceiver>>;

/** The receiver of `pnpm dev --receiver`: the receiver kit with a handler that prints the event, for every type and version. */
export async function startSampleReceiver({ secret, port, print }: SampleReceiverOptions) {
  const printEvent = (event: events.WebhookEvent, { meta }: HandlerContext<undefined>): void =>
    print(`${event.type} ${event.version}, attempt ${meta.unsigned.attempt}\n${JSON.stringify(event, null, 2)}`);
  const on: Handlers<events.WebhookEvent, undefined> = Object.fromEntries(
    events.webhookEventTypes.map(({ type, versions }) => [
      type,
      Object.fromEntries(versions.map(({ version }) => [version, printEvent])),
    ]),
  );
  const receiver = createWebhookReceiver({ events, prefix: 'X-Service', secrets: [secret], store: memoryStore(), on });
  const handle = nodeHandler({
    ...receiver,
    async receive(request) {
      const response = await receiver.receive(request);
      const line = describeResponse(response);
      if (line !== null) print(line);
      return response;
    },
  });
  const listening = await listen(createServer(handle), port);
  return {
    /** The callback URL to register. */
    url: `http://127.0.0.1:${listening.port}/webhooks`,
    async close(): Promise<void> {
      await receiver.close();
      await listening.close();
    },
  };
}

/** Null for an event that was processed: its handler has printed it. */
function describeResponse({ status, body }: ReceiverResponse): string | null {
  const content: { code?: string; result?: string; verification_token?: string } = JSON.parse(body);
  if (content.verification_token !== undefined) return 'answered the handshake; its signature verifies';
  if (content.result === 'duplicate') return 'ignored a repeated delivery of an event that it has printed';
  return content.code === undefined ? null : `rejected a request: ${status} ${content.code}`;
}
