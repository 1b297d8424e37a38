import { updateWebhookSubscription } from '@deedwire/actions';
import { eventually, type Receiver } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from '../../webhook-worker/fixtures.ts';

// Concurrent, because each waits for a receiver that works for seconds.

function respondAfter(receiver: Receiver, ms: number): void {
  receiver.onDelivery = (response) => void setTimeout(() => response.writeHead(200).end(), ms);
}

test.concurrent('a response after 7 s is delivered with a timeout of 15 s, and comes too late for one of 5 s', async ({
  shared,
  customer,
  receiver,
}) => {
  const { id: patient } = await shared.subscribe(receiver.url, ['order.placed'], customer, 5);
  const { id: usual } = await shared.subscribe(`${receiver.url}?usual`, ['order.placed'], customer, 5);
  await updateWebhookSubscription(shared.customerApi, customer, { id: patient, timeoutSeconds: 15 });
  respondAfter(receiver, 7_000);
  await shared.place(1, customer);
  const firstAttempts = await eventually(async () => {
    const deliveries = await shared.deliveries(customer);
    const attempts = [patient, usual].map((id) =>
      deliveries.find(({ subscriptionId }) => subscriptionId === id)?.attempts.find(({ number }) => number === 1),
    );
    expect(attempts).toMatchObject([
      { responseStatus: 200, error: null },
      { responseStatus: null, error: 'TIMEOUT' },
    ]);
    return attempts;
  });
  // A timer of Node can fire some milliseconds early.
  const [patientMs = 0, usualMs = 0] = firstAttempts.map((attempt) => attempt?.durationMs);
  expect(patientMs).toBeGreaterThan(6_900);
  expect(usualMs).toBeGreaterThan(4_900);
});

test.concurrent('a worker that leaves records a response after 9 s, and the next owner of the shard repeats nothing', async ({
  harness,
  receiver,
}) => {
  const first = await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  respondAfter(receiver, 9_000);
  await harness.place(1);
  await receiver.waitFor(1);
  await harness.startWorker();
  await harness.stopWorker(first);
  expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED', attempts: [{ number: 1 }] }]);
  expect(receiver.deliveries).toHaveLength(1);
});
