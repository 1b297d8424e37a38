import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { createInterfaceClient, startInterfaces } from '../support/interface-client.ts';
import { test } from './fixtures.ts';

interface EventPage {
  edges: { sequence: number; node: { type: string; payload: string | null } }[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
  lastSequence: number;
}

interface Listener {
  id: string;
  expiresAt: string;
  lastSequence: number;
}

/** The requests of a customer to running interfaces. */
async function startCustomer(harness: Harness) {
  const { request, mutate } = createInterfaceClient(
    await startInterfaces(harness, ['customer']),
    'customer',
    '2026-11-01',
  );
  return {
    async listen(type: string): Promise<Listener> {
      const { webhookListener, userErrors } = await mutate<{ webhookListener: Listener | null }>(
        'createWebhookListener',
        'webhookListener { id expiresAt lastSequence }',
        { eventTypes: [{ type }] },
      );
      if (webhookListener === null) throw new Error(JSON.stringify(userErrors));
      return webhookListener;
    },
    listeners: () => request<Listener[]>('{ webhookListeners { id expiresAt lastSequence } }'),
    place: (item: string) => mutate('placeOrder', 'order { id }', { item }),
    test: (subscriptionId: string) => mutate('sendTestWebhookEvent', 'webhookEventId', { subscriptionId }),
    read: (id: string, page: { first?: number; after?: string | null; waitSeconds?: number } = {}) =>
      request<EventPage | null>(
        `query ($id: ID!, $first: Int, $after: String, $waitSeconds: Int) {
          webhookEvents(subscriptionId: $id, first: $first, after: $after, waitSeconds: $waitSeconds) {
            edges { sequence node { type payload } } pageInfo { endCursor hasNextPage } lastSequence
          }
        }`,
        { id, ...page },
      ),
  };
}

const moveReadBack = (harness: Harness, { id }: Listener, by: string) =>
  harness.sql(`update webhook_subscription set last_read_at = last_read_at - interval '${by}' where id = $1`, [
    id.split('/').at(-1),
  ]);

test('a listener is read and never sent, and a read moves its end', async ({ harness }) => {
  await harness.startWorker();
  const customer = await startCustomer(harness);
  const listener = await customer.listen('order.placed');
  await customer.place('Ada');
  const page = await customer.read(listener.id, { waitSeconds: 20 });
  expect(page).toMatchObject({ edges: [{ sequence: 1, node: { type: 'order.placed' } }], lastSequence: 1 });
  const { data } = JSON.parse(page?.edges[0]?.node.payload ?? '');
  expect(data.orderId).toMatch(/^gid:\/\/service\/Order\/\d+$/);
  expect(await harness.sql('select from webhook_attempt')).toEqual([]);
  expect(await harness.sql('select from webhook_pending_delivery')).toEqual([]);

  // A read of the last hour was noted, so another one is not, and an earlier one moves the time.
  expect(await customer.listeners()).toMatchObject([{ id: listener.id, expiresAt: listener.expiresAt }]);
  await moveReadBack(harness, listener, '23 hours');
  await customer.read(listener.id);
  await eventually(async () => {
    const [{ expiresAt } = { expiresAt: '' }] = await customer.listeners();
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(Date.parse(listener.expiresAt));
  });
});

test('a listener that is read slower than events arrive loses none, and says how far behind it is', async ({
  harness,
}) => {
  await harness.startWorker();
  const customer = await startCustomer(harness);
  const { id } = await customer.listen('webhook.test');
  const read: number[] = [];
  const behind: number[] = [];
  let sent = 0;
  let after: string | null = null;
  for (let round = 0; round < 8; round += 1) {
    for (let count = 0; count < 4; count += 1) await customer.test(id);
    sent += 4;
    const expected = sent;
    await eventually(async () => expect(await customer.listeners()).toMatchObject([{ lastSequence: expected }]));
    // Two of the four: the reader falls further and further behind.
    const page: EventPage | null = await customer.read(id, { first: 2, after });
    read.push(...(page?.edges ?? []).map(({ sequence }) => sequence));
    after = page?.pageInfo.endCursor ?? null;
    behind.push((page?.lastSequence ?? 0) - (read.at(-1) ?? 0));
  }
  expect(behind).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
  for (let hasNextPage = true; hasNextPage;) {
    const page: EventPage | null = await customer.read(id, { first: 5, after });
    read.push(...(page?.edges ?? []).map(({ sequence }) => sequence));
    after = page?.pageInfo.endCursor ?? null;
    hasNextPage = page?.pageInfo.hasNextPage === true;
  }
  expect(read).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
});
