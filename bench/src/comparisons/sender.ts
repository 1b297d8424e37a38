import { createWebhookSender } from '@deedwire/webhook-sender';
import { Client, type Dispatcher, Pool } from 'undici';
import { dispatch } from '../bare-request.ts';
import { startReceivers } from '../delivery/receivers.ts';
import { deliveryHeaders, event, secret, signedHeaders, targetHeaders } from '../signed-headers.ts';
import type { ComparisonBench, Contestant, Settings } from './comparison.ts';

// The receivers, and the deliveries in flight to each, as many as a lane of the worker has.
const origins = 8;
const perOrigin = 16;

const webhookId = 'gid://service/WebhookDelivery/123456789012345678';
const body = event;

async function dispatchOnce(dispatcher: Dispatcher): Promise<void> {
  const { status } = await dispatch(dispatcher, { path: '/hooks', headers: signedHeaders(webhookId, body), body });
  if (status !== 200) throw new Error(`Status ${status}`);
}

async function requestOnce(dispatcher: Dispatcher): Promise<void> {
  const response = await dispatcher.request({
    method: 'POST',
    path: '/hooks',
    headers: signedHeaders(webhookId, body),
    body,
  });
  await response.body.dump();
  if (response.statusCode !== 200) throw new Error(`Status ${response.statusCode}`);
}

/** @param deliver receives the number of its slot, counted from 0 */
function contestant(deliver: (slot: number) => Promise<void>, close: () => Promise<unknown>): Contestant {
  return {
    close,
    async run(durationMs) {
      const endMs = performance.now() + durationMs;
      let calls = 0;
      const repeat = async (_: unknown, slot: number): Promise<void> => {
        do {
          await deliver(slot);
          calls += 1;
        } while (performance.now() < endMs);
      };
      await Promise.all(Array.from({ length: origins * perOrigin }, repeat));
      return calls;
    },
  };
}

/** `dispatchers` has one entry per slot; entries may repeat. */
function bare(dispatchers: readonly Dispatcher[], once: (dispatcher: Dispatcher) => Promise<void>): Contestant {
  return contestant(
    async (slot) => {
      const dispatcher = dispatchers[slot];
      if (dispatcher !== undefined) await once(dispatcher);
    },
    () => Promise.all([...new Set(dispatchers)].map((dispatcher) => dispatcher.destroy())),
  );
}

const keepAlive = { pipelining: 1, keepAliveTimeout: 60_000, keepAliveMaxTimeout: 60_000 };

function slots<Value>({ urls = [] }: Settings, create: (url: string) => Value): Value[] {
  return urls.flatMap((url) => Array.from({ length: perOrigin }, () => create(url)));
}

function pools({ urls = [] }: Settings): Pool[] {
  return urls
    .map((url) => new Pool(url, { ...keepAlive, connections: perOrigin }))
    .flatMap((pool) => Array.from({ length: perOrigin }, () => pool));
}

export const sender: ComparisonBench = {
  name: 'sender',
  summary: 'one webhook delivery of @deedwire/webhook-sender against a bare signed POST of undici',
  comparisons: [
    {
      title: `POST with two HMACs, ${origins * perOrigin} in flight to ${origins} origins`,
      operation: 'delivery',
      baseline: 'undici Client.dispatch',
      contestants: {
        'undici Client.dispatch': (settings) =>
          bare(
            slots(settings, (url) => new Client(url, keepAlive)),
            dispatchOnce,
          ),
        'undici Pool.dispatch': (settings) => bare(pools(settings), dispatchOnce),
        'undici Pool.request': (settings) => bare(pools(settings), requestOnce),
        'webhook-sender': (settings) => {
          const created = createWebhookSender({
            policy: 'development',
            headerPrefix: 'X-Service',
            userAgent: 'Deedwire-Webhooks/1.0.0',
          });
          const targets = slots(settings, (url) =>
            created.target({ url: `${url}/hooks`, secret, headers: targetHeaders }),
          );
          return contestant(async (slot) => {
            const result = await targets[slot]?.deliver({ webhookId, body, headers: deliveryHeaders });
            if (result?.responseStatus !== 200) throw new Error(`Status ${String(result?.responseStatus)}`);
          }, created.close);
        },
      },
    },
  ],
  start: async (defer) => ({ urls: (await startReceivers(origins, defer)).origins }),
};
