import { createServer } from 'node:http';
import { issueCredential } from '@deedwire/actions';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { type Client, eventually, listen, missing } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { expect, test, vi } from 'vitest';
import { type ClientAccount, createClientAccounts } from '../support/client-accounts.ts';
import { startLoad } from '../support/faults/load.ts';
import * as events from '../support/order-events.ts';
import { pullDeliveries, pullSettledDeliveries } from '../support/pull.ts';
import { startKitReceiver } from '../support/receiver-kit/kit-receiver.ts';
import { createReceiverDatabase } from '../support/receiver-kit/receiver-database.ts';
import { ordersOf, replaceUnderLoad } from '../support/receiver-kit/replace-under-load.ts';
import { subscribe } from '../support/subscribe.ts';
import { DeliveryDocument, PlaceDocument, UnsubscribeDocument } from '../support/webhook-operations.ts';

// One system for all tests, and an account for each. Most of them run at the same time, because they wait for retries.
vi.setConfig({ maxConcurrency: 20 });

const t = await forFile(startTestSystem({ apps: ['customer-api', 'webhook-worker'] }));

const timeout = 300_000;
const created = [{ type: 'order.placed' }];

async function createAccount(system: Pick<TestSystem, 'operator' | 'urls'> = t): Promise<ClientAccount> {
  const [account = missing()] = await createClientAccounts('customer', system, 1);
  return account;
}

async function place(client: Client): Promise<string> {
  const { placeOrder } = await client.request(PlaceDocument, { input: { item: 'Ada' } });
  return placeOrder.order?.id ?? missing();
}

// `packages/webhook-receiver/test/full/conformance.test.ts` has the adapters of the other platforms.
test.concurrent(
  'a receiver answers the handshake, and processes each event once by the handler of its type and version',
  { timeout },
  async () => {
    const handled: string[] = [];
    const logged: string[] = [];
    let secrets: string[] = [];
    let calls = 0;
    const receiver = createWebhookReceiver({
      events,
      prefix: 'X-Service',
      secrets: () => secrets,
      awaitingSecret: true,
      store: memoryStore(),
      on: {
        'api_key.created': {
          '2026-11-01': ({ data }) => {
            calls += 1;
            if (calls === 1) throw new Error('The first attempt fails.');
            handled.push(`key 2026-11-01 ${data.apiKey.id}`);
          },
        },
        'order.placed': {
          '2026-11-01': ({ data }) => void handled.push(`order 2026-11-01 ${data.orderId}`),
          '2027-02-01': ({ data }) => void handled.push(`order 2027-02-01 ${data.order.id}`),
        },
      },
      log: { warn: () => {}, error: (_fields, message) => void logged.push(message) },
    });
    const server = await listen(createServer(nodeHandler(receiver)));
    try {
      const { client, accountId } = await createAccount();
      // Deedwire generates the secret, so the receiver has none during the handshake.
      const { id, secret } = await subscribe(client, {
        callbackUrl: `http://127.0.0.1:${server.port}/webhooks`,
        eventTypes: [{ type: 'api_key.created' }, { type: 'order.placed', version: '2027-02-01' }],
      });
      secrets = [secret];
      const { apiKey } = await issueCredential(t.operator, { accountId, clientId: null });
      const orderId = await place(client);

      expect(await pullSettledDeliveries(client, id, 2)).toMatchObject([
        {
          event: { type: 'order.placed', version: '2027-02-01' },
          status: 'DELIVERED',
          attempts: [{ number: 1, responseStatus: 200, error: null }],
        },
        {
          event: { type: 'api_key.created', version: '2026-11-01' },
          status: 'DELIVERED',
          attempts: [
            { number: 2, responseStatus: 200, error: null },
            { number: 1, responseStatus: 500, error: null },
          ],
        },
      ]);
      expect(handled.toSorted()).toEqual([`key 2026-11-01 ${apiKey.split('_')[2]}`, `order 2027-02-01 ${orderId}`]);
      expect(logged).toEqual([expect.stringMatching(/^HANDLER_FAILED: The handler of api_key\.created 2026-11-01 /)]);
    } finally {
      await receiver.close();
      await server.close();
    }
  },
);

test.concurrent(
  'an event is processed once if its handler ends after two attempts have failed',
  { timeout },
  async () => {
    const secret = generateWebhookSecret();
    const { client } = await createAccount();
    const database = await createReceiverDatabase();
    const received = await startKitReceiver({
      databaseUrl: database.databaseUrl,
      secrets: [secret],
      async beforeEffect(id) {
        await eventually(async () => {
          const { webhookDelivery } = await client.request(DeliveryDocument, { id });
          expect(webhookDelivery?.attempts.length).toBeGreaterThanOrEqual(2);
        }, timeout);
      },
    });
    try {
      const input = { callbackUrl: received.url, eventTypes: created, webhookSecret: secret };
      const { id } = await subscribe(client, input);
      const orderId = await place(client);
      const [delivery = missing()] = await pullSettledDeliveries(client, id, 1);
      const [last, ...earlier] = delivery.attempts;
      expect(delivery.status).toBe('DELIVERED');
      expect(last).toMatchObject({ responseStatus: 200, error: null });
      expect(earlier.pop()).toMatchObject({ number: 1, responseStatus: null, error: 'TIMEOUT' });
      // Retries while the handler runs. On a busy machine, their responses can also be late.
      expect(earlier).not.toEqual([]);
      expect(earlier.filter(({ responseStatus, error }) => responseStatus !== 409 && error !== 'TIMEOUT')).toEqual([]);
      expect(await database.effects()).toEqual([{ deliveryId: delivery.id, eventId: delivery.event.id, orderId }]);
    } finally {
      await received.close();
      await database.close();
    }
  },
);

test.concurrent(
  'a receiver with both secrets rejects nothing, and processes each event once, while a subscription replaces the one with the old secret',
  { timeout },
  async () => {
    const [newSecret, oldSecret] = [generateWebhookSecret(), generateWebhookSecret()];
    const account = await createAccount();
    const { client } = account;
    const database = await createReceiverDatabase();
    const received = await startKitReceiver({
      databaseUrl: database.databaseUrl,
      secrets: [newSecret, oldSecret],
      key: 'event.id',
    });
    const accepted: string[] = [];
    const load = () =>
      startLoad({
        accounts: [account],
        clientOf: () => client,
        log: { add: async ({ recordId }) => void accepted.push(recordId) },
      });
    const processed = async () => new Set((await database.effects()).map(({ orderId }) => orderId));
    try {
      const input = { callbackUrl: received.url, eventTypes: created };
      const { id: oldId } = await subscribe(client, { ...input, webhookSecret: oldSecret });
      const before = load();
      await database.waitForMore(20);
      const { id: newId } = await subscribe(client, { ...input, webhookSecret: newSecret });
      const after = load();
      await before.stop();
      // The new subscription does not receive what happened before it. So the old one stays until that is processed.
      const acceptedBefore = [...accepted];
      await eventually(
        async () => expect([...(await processed())]).toEqual(expect.arrayContaining(acceptedBefore)),
        timeout,
      );
      await client.request(UnsubscribeDocument, { input: { id: oldId } });
      await database.waitForMore(20);
      await after.stop();

      await eventually(async () => expect([...(await processed())].toSorted()).toEqual(accepted.toSorted()), timeout);
      expect((await ordersOf(t, account.accountId)).toSorted()).toEqual(accepted.toSorted());
      const { responses } = received;
      expect(responses.map(({ status }) => status)).not.toContain(401);
      const subscriptionIds = responses.map(({ headers }) => headers['x-service-webhook-subscription-id']);
      // A handshake has none.
      expect(new Set(subscriptionIds)).toEqual(new Set([undefined, oldId, newId]));
      const eventIds = (await database.effects()).map(({ eventId }) => eventId);
      expect(new Set(eventIds).size).toBe(eventIds.length);
      // Some were delivered by both.
      expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(eventIds.length + 2);
    } finally {
      await received.close();
      await database.close();
    }
  },
);

test.concurrent(
  'a receiver whose processes are killed at random points has one effect for each event',
  { timeout },
  async () => {
    // `KILLS=20` is a longer run.
    const times = Number(process.env['KILLS'] ?? 3);
    const { ends, events: sent, started } = await replaceUnderLoad(t, { signal: 'SIGKILL', times });
    expect(ends).toEqual(Array.from({ length: times }, () => ({ exitCode: null, signal: 'SIGKILL' })));
    expect(started).toBeGreaterThanOrEqual(sent);
  },
);

test.concurrent(
  'a receiver whose processes are closed under load finishes its handlers, and has one effect for each event',
  { timeout },
  async () => {
    const { ends, events: sent, started } = await replaceUnderLoad(t, { signal: 'SIGTERM', times: 2 });
    expect(ends).toEqual(Array.from({ length: 2 }, () => ({ exitCode: 0, signal: null })));
    expect(started).toBe(sent);
  },
);

test('a delivery that is sent again has an effect again only if the receiver forgot it', { timeout }, async () => {
  // In its own system: the worker ends when it records any delivery, so there are no others.
  const own = await forTest(startTestSystem({ apps: ['customer-api'] }));
  const secret = generateWebhookSecret();
  const { client } = await createAccount(own);
  const database = await createReceiverDatabase();
  const bothRun = Promise.withResolvers<void>();
  let calls = 0;
  const received = await startKitReceiver({
    databaseUrl: database.databaseUrl,
    secrets: [secret],
    async beforeEffect() {
      calls += 1;
      if (calls === 2) bothRun.resolve();
      await bothRun.promise;
    },
  });
  try {
    const input = { callbackUrl: received.url, eventTypes: created, webhookSecret: secret };
    const subscriptions = [await subscribe(client, input), await subscribe(client, input)];
    // It sends a delivery to each subscription, and ends before it records that they were processed.
    const worker = await own.system.add('webhook-worker', {
      NODE_ENV: 'test',
      DEEDWIRE_FAILPOINT: 'settle-before-write:0',
      WORKER_LEASE_MS: '1000',
    });
    await place(client);
    await worker.ended;
    await eventually(async () => expect(await database.effects()).toHaveLength(2), timeout);
    const [forgotten = missing(), remembered = missing()] = (await database.effects()).map((each) => each.deliveryId);
    expect(await received.forget({ ids: [forgotten] })).toBe(1);
    const statuses = async () => {
      const deliveries = await Promise.all(subscriptions.map(({ id }) => pullDeliveries(client, id)));
      return deliveries.flat().map(({ status }) => status);
    };
    expect(await statuses()).toEqual(['PENDING', 'PENDING']);

    await own.system.add('webhook-worker');
    for (const { id } of subscriptions) {
      const deliveries = await pullSettledDeliveries(client, id, 1);
      expect(deliveries).toMatchObject([{ status: 'DELIVERED', attempts: [{ number: 1, responseStatus: 200 }] }]);
    }
    const effects = (await database.effects()).map(({ deliveryId }) => deliveryId);
    expect(effects.toSorted()).toEqual([forgotten, forgotten, remembered].toSorted());
  } finally {
    await received.close();
    await database.close();
  }
});
