import { convertReferral } from '@deedwire/actions';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { acknowledge, missing, postGraphql, type Receiver, startReceiver } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as operations from '../consumers/referral-portal/generated/2026-11-01.ts';

let t: TestSystem;
let receiver: Receiver;
let secret: string;

beforeEach(async () => {
  t = await startTestSystem({
    apps: ['partner-api', 'webhook-worker'],
    appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '1000' } },
  });
  receiver = await startReceiver();
  const { createWebhookSubscription } = await t.partner.request(operations.SubscribeDocument, {
    input: { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.converted' }] },
  });
  secret = createWebhookSubscription.webhookSecret ?? '';
});

afterEach(async () => {
  await t.close();
  await receiver.close();
});

interface Shown {
  webhookSubscriptions: { nodes: { health: { state: string }; statistics: { deliveredCount: number }[] }[] };
}

test('a worker killed between taking and settling a delivery loses no event', async () => {
  // The receiver does not respond, so the delivery is taken and sent, but not settled.
  receiver.onDelivery = () => {};
  await convertReferral(t.operator, { referralId: t.referrals[0] ?? '' });
  await receiver.waitFor(1);
  t.system.apps['webhook-worker'].kill('SIGKILL');
  await t.system.apps['webhook-worker'].ended;
  receiver.onDelivery = acknowledge;

  // No worker runs while this event occurs.
  await convertReferral(t.operator, { referralId: t.referrals[1] ?? '' });
  await t.system.restart('webhook-worker');
  const [first, ...others] = await receiver.waitFor(3);

  for (const { headers, body } of receiver.deliveries) verifyWebhook({ headers, body, secret });
  const repeated = others.filter(({ headers }) => headers['webhook-id'] === first?.headers['webhook-id']);
  expect(repeated).toHaveLength(1);
  expect(repeated[0]?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);

  await expect
    .poll(async () => (await t.partner.request(operations.DeliveriesDocument, {})).webhookDeliveries.nodes)
    .toMatchObject([
      { sequence: 2, status: 'DELIVERED' },
      { sequence: 1, status: 'DELIVERED', attempts: [{ number: 1, responseStatus: 204 }] },
    ]);
  expect(receiver.deliveries).toHaveLength(3);

  // What the first worker sent and did not record is counted by the second one only.
  t.system.apps['webhook-worker'].kill('SIGTERM');
  await t.system.apps['webhook-worker'].ended;
  const query = '{ webhookSubscriptions { nodes { health { state } statistics(hours: 2) { deliveredCount } } } }';
  const { body } = await postGraphql<Shown>(t.urls.partner, t.accounts.partner.credential, { query });
  const [{ health, statistics } = missing()] = body.data?.webhookSubscriptions.nodes ?? [];
  expect(health).toEqual({ state: 'HEALTHY' });
  expect(statistics.reduce((sum, { deliveredCount }) => sum + deliveredCount, 0)).toBe(2);
});
