import { startTestSystem } from '@deedwire/dev-environment/harness';
import { acknowledge, missing, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';
import { subscribe } from './support/subscribe.ts';

const t = await forFile(
  startTestSystem({
    apps: ['customer-api', 'webhook-worker'],
    appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '3000' } },
  }),
);
const receiver = await forFile(startReceiver());
const { secret } = await subscribe(t.customer, {
  callbackUrl: receiver.url,
  eventTypes: [{ type: 'order.placed' }],
  timeoutSeconds: 15,
});

const { request } = createInterfaceClient(t, 'customer', '2026-11-01');
const deliveries = '{ webhookDeliveries { nodes { sequence status attempts { number responseStatus } } } }';

interface Shown {
  webhookSubscriptions: { nodes: { health: { state: string }; statistics: { deliveredCount: number }[] }[] };
}

test('a worker killed between taking and settling a delivery loses no event', async () => {
  // The receiver does not respond, so the delivery is taken and sent, but not settled.
  receiver.onDelivery = () => {};
  await t.place(1);
  await receiver.waitFor(1);
  t.system.apps['webhook-worker'].kill('SIGKILL');
  await t.system.apps['webhook-worker'].ended;
  receiver.onDelivery = acknowledge;

  // No worker runs while this event occurs.
  await t.place(1);
  await t.system.restart('webhook-worker');
  const [first, ...others] = await receiver.waitFor(3);

  for (const { headers, body } of receiver.deliveries) verifyWebhook({ headers, body, secret });
  const repeated = others.filter(({ headers }) => headers['webhook-id'] === first?.headers['webhook-id']);
  expect(repeated).toHaveLength(1);
  expect(repeated[0]?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);

  await expect
    .poll(async () => (await request<{ nodes: unknown }>(deliveries)).nodes)
    .toMatchObject([
      { sequence: 2, status: 'DELIVERED' },
      { sequence: 1, status: 'DELIVERED', attempts: [{ number: 1, responseStatus: 204 }] },
    ]);
  expect(receiver.deliveries).toHaveLength(3);

  // What the first worker sent and did not record is counted by the second one only.
  t.system.apps['webhook-worker'].kill('SIGTERM');
  await t.system.apps['webhook-worker'].ended;
  const query = '{ webhookSubscriptions { nodes { health { state } statistics(hours: 2) { deliveredCount } } } }';
  const { body } = await postGraphql<Shown>(t.urls.customer, t.accounts.customer.credential, { query });
  const [{ health, statistics } = missing()] = body.data?.webhookSubscriptions.nodes ?? [];
  expect(health).toEqual({ state: 'HEALTHY' });
  expect(statistics.reduce((sum, { deliveredCount }) => sum + deliveredCount, 0)).toBe(2);
});
