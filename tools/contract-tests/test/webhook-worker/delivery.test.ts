import { deleteWebhookSubscription } from '@deedwire/actions';
import { acknowledge, eventually, startReceiver } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

test('a conversion arrives once, as published, signed with the secret of the subscription', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker();
  const { id, secret } = await harness.subscribe(receiver.url, ['referral.converted']);
  const [referralId = ''] = await harness.refer(1);
  await harness.convert(referralId);
  await receiver.waitFor(1);

  const [request] = receiver.deliveries;
  const { headers, body } = request ?? {};
  expect(JSON.parse(String(body))).toEqual({
    id: expect.stringMatching(/^gid:\/\/service\/WebhookEvent\/\d+$/),
    type: 'referral.converted',
    version: '2026-11-01',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    data: {
      referralId,
      externalReference: null,
      matterId: expect.stringMatching(/^gid:\/\/service\/Matter\/\d+$/),
      convertedAt: expect.stringMatching(/Z$/),
    },
  });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Deedwire-Webhooks/test',
    'x-service-webhook-event': 'referral.converted',
    'x-service-webhook-event-version': '2026-11-01',
    'x-service-webhook-subscription-id': id,
    'x-service-webhook-attempt': '1',
    'x-service-webhook-sequence': '1',
  });
  expect(verifyWebhook({ headers: headers ?? {}, body: body ?? '', secret }).id).toMatch(
    /^gid:\/\/service\/WebhookDelivery\/\d+$/,
  );

  await eventually(async () => {
    expect(await harness.deliveries()).toMatchObject([
      {
        status: 'DELIVERED',
        sequence: 1,
        nextAttemptAt: null,
        attempts: [{ number: 1, responseStatus: 204, error: null }],
      },
    ]);
  });
  expect(receiver.deliveries).toHaveLength(1);
});

test('three workers number the deliveries of a subscription without gaps', async ({ harness, receiver }) => {
  await Promise.all([harness.startWorker(), harness.startWorker(), harness.startWorker()]);
  await harness.subscribe(receiver.url, ['referral.created']);
  await Promise.all([harness.refer(20), harness.refer(20), harness.refer(20)]);
  await receiver.waitFor(60);
  await eventually(async () => {
    const deliveries = await harness.deliveries();
    expect(deliveries.filter(({ status }) => status === 'DELIVERED')).toHaveLength(60);
  });
  const deliveries = await harness.deliveries();
  expect(deliveries.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, index) => index + 1),
  );
  expect(receiver.deliveries).toHaveLength(60);
});

test('polling finds an event without a notification', async ({ harness, receiver }) => {
  await harness.startWorker({ POLL_INTERVAL_MS: 200 });
  await harness.subscribe(receiver.url, ['referral.created']);
  const { store } = harness.partnerApi;
  harness.partnerApi.store = {
    ...store,
    transaction: (work) => store.transaction((transaction) => work({ ...transaction, notifyAfterCommit() {} })),
  };
  await harness.refer(1);
  await receiver.waitFor(1);
  expect(receiver.deliveries).toHaveLength(1);
});

test('a deleted subscription receives nothing more, and its deliveries are gone', async ({ harness, receiver }) => {
  const { id } = await harness.subscribe(receiver.url, ['referral.created']);
  const other = await startReceiver();
  try {
    await harness.subscribe(other.url, ['referral.created']);
    await harness.refer(1);
    expect(await deleteWebhookSubscription(harness.partnerApi, harness.accounts.partner, { id })).toMatchObject({
      userErrors: [],
    });
    await harness.startWorker();
    await other.waitFor(1);
    expect(await harness.deliveries()).toHaveLength(1);
    expect(receiver.deliveries).toEqual([]);
  } finally {
    await other.close();
  }
});

test('a worker that stops waits for its requests and records them', async ({ harness, receiver }) => {
  const worker = await harness.startWorker();
  await harness.subscribe(receiver.url, ['referral.created']);
  receiver.onDelivery = (response) => {
    setTimeout(() => response.writeHead(200).end(), 500);
  };
  await harness.refer(1);
  await receiver.waitFor(1);
  await harness.stopWorker(worker);
  expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED' }]);
});

test('deleting a subscription while the worker sends leaves nothing pending and delays no other subscription', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker();
  const { id } = await harness.subscribe(receiver.url, ['referral.created']);
  const held = Promise.withResolvers<void>();
  receiver.onDelivery = (response, request) => void held.promise.then(() => acknowledge(response, request));
  await harness.refer(2);
  await receiver.waitFor(2);
  expect(await deleteWebhookSubscription(harness.partnerApi, harness.accounts.partner, { id })).toMatchObject({
    userErrors: [],
  });
  held.resolve();

  receiver.onDelivery = acknowledge;
  await harness.subscribe(receiver.url, ['referral.created']);
  await harness.refer(1);
  await eventually(async () =>
    expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED', sequence: 1 }]),
  );
  expect(receiver.deliveries).toHaveLength(3);
  await eventually(async () => expect(await harness.sql('select from webhook_pending_delivery')).toEqual([]));
});
