import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import {
  type AnyEvent,
  createWebhookReceiver,
  type EventPackage,
  type Handler,
  type ReceiverResponse,
} from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';

export interface SampleReceiverOptions {
  /** What the names of the service's own headers begin with. */
  prefix: string;
  /** The package of payloads of the service. */
  events: EventPackage;
  secret: string;
  port: number;
  /** Called with the lines that the terminal shows for a request. */
  print: (text: string) => void;
}

export type SampleReceiver = Awaited<ReturnType<typeof startSampleReceiver>>;

/** The receiver of `pnpm dev --receiver`: the receiver kit with a handler that prints the event, for every type and version. */
export async function startSampleReceiver({ prefix, events, secret, port, print }: SampleReceiverOptions) {
  const printEvent: Handler<AnyEvent, undefined> = (event, { meta }) =>
    print(`${describeEvent(event)}, attempt ${meta.unsigned.attempt}\n${JSON.stringify(event, null, 2)}`);
  const on: Record<string, Record<string, typeof printEvent>> = {};
  for (const name of events.parsedEventNames()) {
    const [type = '', version = ''] = name.split('/');
    on[type] = { ...on[type], [version]: printEvent };
  }
  const receiver = createWebhookReceiver({
    events,
    prefix,
    secrets: [secret],
    store: memoryStore(),
    on,
    onUnhandled: (event) => print(`${describeEvent(event)}\n${JSON.stringify(event, null, 2)}`),
  });
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

function describeEvent({ type, version }: AnyEvent): string {
  return `${type} ${version}`;
}

/** Null for an event that was processed: its handler has printed it. */
function describeResponse({ status, body }: ReceiverResponse): string | null {
  const content: { code?: string; result?: string; verification_token?: string } = JSON.parse(body);
  if (content.verification_token !== undefined) return 'answered the handshake; its signature verifies';
  if (content.result === 'duplicate') return 'ignored a repeated delivery of an event that it has printed';
  return content.code === undefined ? null : `rejected a request: ${status} ${content.code}`;
}
