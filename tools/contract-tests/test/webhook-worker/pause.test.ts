import type { ServerResponse } from 'node:http';
import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { createInterfaceClient, startInterfaces } from '../support/interface-client.ts';
import { test } from './fixtures.ts';

type Change = (mutation: 'pause' | 'resume', id: string) => Promise<unknown>;

/** Pauses and resumes over HTTP. Returns the reason for which the subscription is then paused. */
async function startApi(harness: Harness): Promise<Change> {
  const { mutate } = createInterfaceClient(await startInterfaces(harness, ['customer']), 'customer', '2026-11-01');
  return async (mutation, id) => {
    const { webhookSubscription, userErrors } = await mutate<{ webhookSubscription: { pausedReason: string | null } }>(
      `${mutation}WebhookSubscription`,
      'webhookSubscription { pausedReason }',
      { id },
    );
    expect(userErrors).toEqual([]);
    return webhookSubscription.pausedReason;
  };
}

const pending = async (harness: Harness) => (await harness.deliveries()).filter(({ status }) => status === 'PENDING');

test('events of a paused subscription are kept, and sent in order once it is resumed', async ({
  harness,
  receiver,
}) => {
  const change = await startApi(harness);
  await harness.startWorker();
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(1);
  await receiver.waitFor(1);

  expect(await change('pause', id)).toBe('OWNER');
  // The worker has applied the pause.
  await eventually(async () => expect(await harness.sql('select from webhook_event_queue')).toEqual([]));
  await harness.place(3);
  await eventually(async () => expect(await pending(harness)).toHaveLength(3));
  expect(receiver.deliveries).toHaveLength(1);

  expect(await change('resume', id)).toBeNull();
  const received = await receiver.waitFor(4);
  expect(received.map(({ headers }) => headers['x-service-webhook-sequence'])).toEqual(['1', '2', '3', '4']);
  await eventually(async () => expect(await pending(harness)).toEqual([]));
});

test('a subscription that its owner paused with a request in flight is GONE after a 410, and resumes with a handshake', async ({
  harness,
  receiver,
}) => {
  const change = await startApi(harness);
  await harness.startWorker();
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  const arrived = Promise.withResolvers<ServerResponse>();
  receiver.onDelivery = arrived.resolve;
  await harness.place(1);
  const response = await arrived.promise;
  expect(await change('pause', id)).toBe('OWNER');
  response.writeHead(410).end();
  await eventually(async () =>
    expect(await harness.sql('select paused_reason as reason from webhook_subscription')).toEqual([{ reason: 'GONE' }]),
  );
  const handshakes = receiver.handshakes.length;
  expect(await change('resume', id)).toBeNull();
  expect(receiver.handshakes).toHaveLength(handshakes + 1);
});
