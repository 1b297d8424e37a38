import { deleteWebhookSubscription } from '@deedwire/actions';
import { acknowledge, eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

test('three workers number the deliveries of a subscription without gaps', async ({ harness, receiver }) => {
  await Promise.all([harness.startWorker(), harness.startWorker(), harness.startWorker()]);
  await harness.subscribe(receiver.url, ['order.placed']);
  await Promise.all([harness.place(20), harness.place(20), harness.place(20)]);
  await receiver.waitFor(60);
  await eventually(async () => {
    const deliveries = await harness.deliveries();
    expect(deliveries.filter(({ status }) => status === 'DELIVERED')).toHaveLength(60);
  });
  const deliveries = await harness.deliveries();
  expect(deliveries.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, index) => index + 1),
  );
  // A receiver gets the numbers that the API shows.
  const numbered = receiver.deliveries.map(({ headers }) => [
    headers['webhook-id'],
    Number(headers['x-service-webhook-sequence']),
  ]);
  expect(Object.fromEntries(numbered)).toEqual(
    Object.fromEntries(deliveries.map(({ id, sequence }) => [id, sequence])),
  );
  expect(numbered).toHaveLength(60);
});

test('polling finds an event without a notification', async ({ harness, receiver }) => {
  await harness.startWorker({ POLL_INTERVAL_MS: 200 });
  await harness.subscribe(receiver.url, ['order.placed']);
  const { store } = harness.customerApi;
  harness.customerApi.store = {
    ...store,
    transaction: (work) => store.transaction((transaction) => work({ ...transaction, notifyAfterCommit() {} })),
  };
  await harness.place(1);
  await receiver.waitFor(1);
  expect(receiver.deliveries).toHaveLength(1);
});

test('a worker that stops waits for its requests and records them', async ({ harness, receiver }) => {
  const worker = await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  receiver.onDelivery = (response) => {
    setTimeout(() => response.writeHead(200).end(), 500);
  };
  await harness.place(1);
  await receiver.waitFor(1);
  await harness.stopWorker(worker);
  expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED' }]);
});

test('deleting a subscription while the worker sends leaves nothing pending and delays no other subscription', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker();
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  const held = Promise.withResolvers<void>();
  receiver.onDelivery = (response, request) => void held.promise.then(() => acknowledge(response, request));
  await harness.place(2);
  await receiver.waitFor(2);
  expect(await deleteWebhookSubscription(harness.customerApi, harness.accounts.customer, { id })).toMatchObject({
    userErrors: [],
  });
  held.resolve();

  receiver.onDelivery = acknowledge;
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(1);
  await eventually(async () =>
    expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED', sequence: 1 }]),
  );
  expect(receiver.deliveries).toHaveLength(3);
  await eventually(async () => expect(await harness.sql('select from webhook_pending_delivery')).toEqual([]));
});
