import { issueCredential } from '@deedwire/actions';
import { idAt } from '@deedwire/core';
import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { graphqlPull } from '@deedwire/webhook-receiver/pull';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as events from '../support/order-events.ts';
import { insertSubscription } from '../support/stored-deliveries.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness.close());

const eventCount = 10_000;

test('10,000 events catch up within the 60 seconds that the default bucket of the API restores', async () => {
  const service = await harness.startApi('customer');
  await service.whenReady;
  const { customer } = harness.accounts;
  // With the default bucket.
  const credentials = await issueCredential(harness.operator, {
    interfaceName: 'customer',
    accountId: customer.id,
    clientId: null,
  });
  const { id, gid } = await insertSubscription(harness, 'customer', customer);
  const firstId = idAt(new Date());
  const timestamp = new Date().toISOString();
  const data = { orderId: 'gid://service/Order/4711', item: 'Tea', note: null, placedAt: timestamp };
  const body = { id: 'gid://service/WebhookEvent/', type: 'order.placed', version: '2026-11-01', timestamp, data };
  const [before = '', after = ''] = JSON.stringify(body).split(/(?<=WebhookEvent\/)/);
  const eventId = `${firstId}::bigint + 2 * n + 1`;
  await harness.sql(
    `insert into webhook_delivery
       (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select ${firstId}::bigint + 2 * n, ${id}, ${customer.accountId}, 'customer', ${eventId}, 'order.placed',
       '2026-11-01', now(), n
     from generate_series(1, ${eventCount}) n`,
  );
  await harness.sql(
    `insert into webhook_payload (event_id, event_version, interface, body)
     select ${eventId}, '2026-11-01', 'customer', convert_to('${before}' || (${eventId})::text || '${after}', 'UTF8')
     from generate_series(1, ${eventCount}) n`,
  );
  await harness.sql(
    `update webhook_subscription_sequence set last_sequence = ${eventCount} where subscription_id = ${id}`,
  );

  const handled = new Set<string>();
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    store: memoryStore(),
    on: { 'order.placed': { '2026-11-01': (event) => void handled.add(event.id) } },
  });
  // What the API asks the client to wait. A client that is slower waits less, so the sum does not depend on the machine.
  let seconds = 0;
  let pages = 0;
  const pull = graphqlPull({
    prefix: 'X-Service',
    url: `${service.url}/customer/graphql`,
    credentials,
    subscriptionId: gid,
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (response.status === 429) seconds += Number(response.headers.get('retry-after'));
      else pages += 1;
      return response;
    },
  });
  const startMs = performance.now();
  expect(await receiver.reconcile(pull)).toMatchObject({
    end: 'complete',
    processed: eventCount,
    watermark: eventCount,
  });
  const tookSeconds = (performance.now() - startMs) / 1_000;
  expect(handled.size).toBe(eventCount);
  process.stdout.write(
    `${JSON.stringify({ events: eventCount, bytes: before.length + after.length, pages, seconds, tookSeconds })}\n`,
  );
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(60);
});
