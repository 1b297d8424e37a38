import { startTestSystem } from '@deedwire/dev-environment/harness';
import { type ConnectProxy, eventually, startConnectProxy, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterAll, expect, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';

// The apps as processes: the handshake of an interface and the deliveries of the worker go through a proxy that wants a password.

const password = 'canary-of-the-proxy';
const lines: string[] = [];

let proxy: ConnectProxy;

proxy = await startConnectProxy({
  status: (_authority, { headers }) =>
    headers['proxy-authorization'] === `Basic ${btoa(`egress:${password}`)}` ? 200 : 407,
});
const receiver = await forFile(startReceiver());
const t = await forFile(
  startTestSystem({
    apps: ['customer-api', 'webhook-worker'],
    env: { WEBHOOK_PROXY_URL: `http://egress:${password}@127.0.0.1:${proxy.port}`, LOG_LEVEL: 'trace' },
    onLine: (_app, line) => lines.push(line),
  }),
);

afterAll(async () => {
  await proxy.close();
});

const { mutate } = createInterfaceClient(t, 'customer', '2026-11-01');
const create = (callbackUrl: string) =>
  mutate<{ webhookSubscription: { id: string } }>('createWebhookSubscription', 'webhookSubscription { id }', {
    callbackUrl,
    eventTypes: [{ type: 'order.placed' }],
  });
const sendTest = (subscriptionId: string) =>
  mutate('sendTestWebhookEvent', 'webhookEventId', { subscriptionId, eventType: 'order.placed' });

test('handshakes and deliveries go through the proxy; while it is down, changes get 503 and deliveries wait', async () => {
  const { webhookSubscription, userErrors } = await create(receiver.url);
  expect(userErrors).toEqual([]);
  expect(receiver.handshakes).toHaveLength(1);
  // Otherwise the next attempt could use this tunnel just before the end of the proxy reaches the worker, and would count.
  receiver.onDelivery = (response) => void response.writeHead(204, { connection: 'close' }).end();
  await sendTest(webhookSubscription.id);
  await receiver.waitFor(1);
  // The end of the proxy could overtake the response.
  await eventually(async () =>
    expect(await t.sql('select from webhook_attempt where response_status = 204')).toHaveLength(1),
  );
  const authority = `127.0.0.1:${receiver.port}`;
  expect(new Set(proxy.authorities)).toEqual(new Set([authority]));

  const { port } = proxy;
  await proxy.close();
  await expect(create(`${receiver.url}?2`)).rejects.toThrow('SERVICE_UNAVAILABLE');
  await sendTest(webhookSubscription.id);
  await eventually(() => expect(lines.filter((line) => line.includes('"proxy-failed"'))).not.toEqual([]));
  proxy = await startConnectProxy({ port });
  await receiver.waitFor(2);
  // Nothing was asked of the receiver meanwhile.
  expect(receiver.deliveries[1]?.headers['x-service-webhook-attempt']).toBe('1');

  // No SDK is loaded, so events keep no trace context.
  const causes = await t.sql('select request_id from webhook_event where is_test');
  expect(causes.map(({ request_id: text }) => String(text))).toEqual([
    expect.stringMatching(/^[\w-]+$/),
    expect.stringMatching(/^[\w-]+$/),
  ]);

  const failures = lines.filter((line) => line.includes('ECONNREFUSED'));
  expect(failures.map((line) => line.includes(`proxy 127.0.0.1:${port}: ECONNREFUSED`))).toContain(true);
  expect(lines.join('\n')).not.toContain(password);
  expect(lines.join('\n')).not.toContain(btoa(`egress:${password}`));
});
