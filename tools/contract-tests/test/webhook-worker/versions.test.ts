import { findWebhookSubscription, updateWebhookSubscription } from '@deedwire/actions';
import { createStore } from '@deedwire/store';
import { startReceiver, type Receiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { pauseRetiredSubscriptions, type WorkerId } from '@deedwire/webhooks';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

async function openReceiver(): Promise<Receiver> {
  const receiver = await forTest(startReceiver());
  return receiver;
}

const preview = { type: 'order.placed', version: '2027-02-01' };

test('two subscriptions receive one event at two versions, side by side', async ({ harness, receiver: older }) => {
  const newer = await openReceiver();
  await harness.startWorker();
  const first = await harness.subscribe(older.url, ['order.placed']);
  const second = await harness.subscribe(newer.url, [preview]);
  const [orderId = ''] = await harness.place(1);
  await Promise.all([older.waitFor(1), newer.waitFor(1)]);

  const [flat, nested] = [older, newer].map(({ deliveries }) => JSON.parse(String(deliveries[0]?.body)));
  expect(flat).toMatchObject({
    version: '2026-11-01',
    data: { orderId, item: 'Item 0', placedAt: expect.any(String) },
  });
  expect(nested).toEqual({
    id: flat.id,
    type: 'order.placed',
    version: '2027-02-01',
    timestamp: flat.timestamp,
    data: { order: { id: orderId, item: 'Item 0', note: null }, placedAt: flat.data.placedAt },
  });
  for (const [receiver, { secret }] of [
    [older, first],
    [newer, second],
  ] as const) {
    const { headers = {}, body = '' } = receiver.deliveries[0] ?? {};
    expect(verifyWebhook({ prefix: 'X-Service', headers, body, secret }).id).toMatch(/WebhookDelivery/);
  }
});

test('an event that was fanned out before its pin changed keeps its bytes', async ({ harness, receiver: older }) => {
  older.onDelivery = (response) => response.writeHead(500).end();
  await harness.startWorker();
  const { id } = await harness.subscribe(older.url, ['order.placed']);
  await harness.place(1);
  await older.waitFor(1);
  const { userErrors } = await updateWebhookSubscription(harness.customerApi, harness.accounts.customer, {
    id,
    eventTypes: [preview],
  });
  expect(userErrors).toEqual([]);
  older.onDelivery = (response) => response.writeHead(200).end();
  await harness.place(1);
  await older.waitFor(3);
  const [first, second, retried] = older.deliveries;
  expect(JSON.parse(String(second?.body))).toMatchObject({ version: '2027-02-01' });
  expect(retried?.headers).toMatchObject({
    'x-service-webhook-event-version': '2026-11-01',
    'x-service-webhook-attempt': '2',
  });
  expect(retried?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
});

test('only a subscription that pins a retired version is paused, and another pin resumes it', async ({
  harness,
  receiver: older,
}) => {
  const newer = await openReceiver();
  const { id } = await harness.subscribe(older.url, ['order.placed']);
  const { id: otherId } = await harness.subscribe(newer.url, [preview]);
  const store = createStore({ databaseUrl: await harness.database.urlFor('webhook_worker'), applicationName: 'test' });
  const [worker] = await harness.sql(
    `insert into webhook_worker (name, leased_until) values ('test', now() + interval '1 hour') returning id`,
  );
  const workerId = String(worker?.['id']) as WorkerId;
  const retired = [{ type: 'order.placed', version: '2026-11-01' }];
  await store.transaction((transaction) => pauseRetiredSubscriptions(transaction, workerId, retired, 10));
  await harness.sql('delete from webhook_worker');
  await store.close();
  expect(await findWebhookSubscription(harness.customerApi, harness.accounts.customer, id)).toMatchObject({
    status: 'PAUSED',
    pausedReason: 'VERSION_RETIRED',
    pausedAt: expect.any(Date),
  });
  expect(await findWebhookSubscription(harness.customerApi, harness.accounts.customer, otherId)).toMatchObject({
    status: 'ACTIVE',
  });

  await harness.startWorker();
  await harness.place(1);
  await newer.waitFor(1);
  expect(older.deliveries).toEqual([]);
  const { webhookSubscription } = await updateWebhookSubscription(harness.customerApi, harness.accounts.customer, {
    id,
    eventTypes: [preview],
  });
  expect(webhookSubscription).toMatchObject({ status: 'ACTIVE', pausedReason: null });
  // The event was rendered while the subscription was paused.
  await older.waitFor(1);
  expect(JSON.parse(String(older.deliveries[0]?.body))).toMatchObject({ version: '2026-11-01' });
});
