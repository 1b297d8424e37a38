import { readFileSync } from 'node:fs';
import { type InterfaceName, testService } from '@deedwire/core/test-service';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/harness';
import {
  eventually,
  missing,
  postGraphql,
  type ReceivedRequest,
  type Receiver,
  startReceiver,
} from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';
import { newest } from './support/interface-contracts.ts';

const t = await forFile(joinSharedSystem());

beforeEach(() => t.forgetHandshakes());

interface Delivery {
  id: string;
  status: string;
  isTest: boolean;
  sequenceNumber: number;
  event: { eventId: string; type: string; version: string };
  delay: { reason: string } | null;
  attempts: { responseStatus: number | null }[];
}

/** The requests of one account to one version of its interface. */
function clientOf(account: keyof SharedSystem['accounts'], date: string) {
  const { name, request, mutate } = createInterfaceClient(t, account, date);
  const remove = (id: string) => mutate('deleteWebhookSubscription', 'deletedWebhookSubscriptionId', { id });
  return {
    name,
    remove,
    send: (input: object) => mutate<{ webhookEventId: string | null }>('sendTestWebhookEvent', 'webhookEventId', input),
    pause: (id: string) => mutate('pauseWebhookSubscription', 'webhookSubscription { status }', { id }),
    resume: (id: string) => mutate('resumeWebhookSubscription', 'webhookSubscription { status }', { id }),
    async subscribe(input: object): Promise<string> {
      const { webhookSubscription, userErrors } = await mutate<{ webhookSubscription: { id: string } | null }>(
        'createWebhookSubscription',
        'webhookSubscription { id }',
        input,
      );
      if (webhookSubscription === null) throw new Error(JSON.stringify(userErrors));
      onTestFinished(async () => void (await remove(webhookSubscription.id)));
      return webhookSubscription.id;
    },
    async deliveries(subscriptionId: string): Promise<Delivery[]> {
      const query = `query ($subscriptionId: ID!) {
        webhookDeliveries(subscriptionId: $subscriptionId) {
          nodes { id status isTest sequenceNumber event { eventId type version } delay { reason } attempts { responseStatus } }
        }
      }`;
      const { nodes } = await request<{ nodes: Delivery[] }>(query, { subscriptionId });
      return nodes;
    },
  };
}

const openReceiver = (): Promise<Receiver> => forTest(startReceiver());

const bodyOf = ({ body }: ReceivedRequest): { id: string } => JSON.parse(body.toString());

const order = { item: 'Tea «Grün» 🏡', note: null };
const placedAt = '2026-11-03T09:30:00.000Z';
/** The sample of `order.placed`, at each of its versions. */
const placedOrders: Readonly<Record<string, unknown>> = {
  '2026-11-01': { orderId: 'gid://service/Order/4711', ...order, placedAt },
  '2027-02-01': { order: { id: 'gid://service/Order/4711', ...order }, placedAt },
};

function typicalData(type: string, version: string): unknown {
  if (type === 'order.placed') return placedOrders[version];
  const file = `../../../packages/webhook-contract/fixtures/${type}/${version}/accept/typical.json`;
  const { data } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
  return data;
}

/** Each event type of an interface, at each version that a subscription can pin. */
const pinsOf = (name: InterfaceName) =>
  testService.events.flatMap(({ type, interfaces, versions }) =>
    interfaces.includes(name)
      ? versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [{ type, version }]))
      : [],
  );

describe.each(newest)('the $account interface', ({ account, date }) => {
  test('a test event of each type arrives once, at the pinned version, at this subscription only', async () => {
    const client = clientOf(account, date);
    const other = await openReceiver();
    const webhookSecret = generateWebhookSecret();
    for (const pin of pinsOf(client.name)) {
      const receiver = await openReceiver();
      const input = { callbackUrl: receiver.url, webhookSecret, eventTypes: [pin] };
      const subscriptionId = await client.subscribe(input);
      const otherId = await client.subscribe({ ...input, callbackUrl: other.url });
      const { webhookEventId, userErrors } = await client.send({ subscriptionId, eventType: pin.type });
      expect(userErrors).toEqual([]);

      const [received = missing()] = await receiver.waitFor(1);
      const { headers, body } = received;
      expect(bodyOf(received)).toEqual({
        ...pin,
        id: webhookEventId,
        timestamp: expect.any(String),
        data: typicalData(pin.type, pin.version),
      });
      expect(headers).toMatchObject({
        'x-service-webhook-subscription-id': subscriptionId,
        'x-service-webhook-sequence': '1',
        'x-service-webhook-attempt': '1',
        'x-service-webhook-test': 'true',
      });
      expect(headers).not.toHaveProperty('x-service-webhook-replay');
      const [delivery = missing()] = await eventually(async () => {
        const found = await client.deliveries(subscriptionId);
        expect(found).toMatchObject([{ status: 'DELIVERED' }]);
        return found;
      });
      expect(delivery).toEqual({
        id: verifyWebhook({ headers, body, secret: webhookSecret }).id,
        status: 'DELIVERED',
        isTest: true,
        sequenceNumber: 1,
        event: { eventId: webhookEventId, ...pin },
        delay: null,
        attempts: [{ responseStatus: 204 }],
      });
      expect(await client.deliveries(otherId)).toEqual([]);
      for (const each of [subscriptionId, otherId]) await client.remove(each);
      // Of an account, 20 a minute are allowed.
      await t.forgetHandshakes();
    }
    expect(other.deliveries).toEqual([]);
  });

  test('a repeated request with the same idempotency key sends one event', async () => {
    const client = clientOf(account, date);
    const receiver = await openReceiver();
    const subscriptionId = await client.subscribe({
      callbackUrl: receiver.url,
      eventTypes: [{ type: 'webhook.test' }],
    });
    const input = { subscriptionId, idempotencyKey: `test ${date}` };
    const results = await Promise.all([client.send(input), client.send(input), client.send(input)]);
    const ids = new Set(results.flatMap(({ webhookEventId }) => webhookEventId ?? []));
    expect(ids.size).toBe(1);
    expect(results.flatMap(({ userErrors }) => userErrors.map(({ code }) => code))).not.toContain('NOT_FOUND');
    // A later one would arrive after the next event, which has another key.
    const { webhookEventId: next } = await client.send({ subscriptionId });
    expect((await receiver.waitFor(2)).map((received) => bodyOf(received).id)).toEqual([...ids, next]);
  });
});

test('a test event waits while the subscription is paused, and its retry is still a test', async () => {
  const client = clientOf('customer', '2026-11-01');
  const receiver = await openReceiver();
  receiver.onDelivery = (response) => response.writeHead(receiver.deliveries.length === 1 ? 500 : 204).end();
  const subscriptionId = await client.subscribe({ callbackUrl: receiver.url, eventTypes: [{ type: 'webhook.test' }] });
  await client.pause(subscriptionId);
  const { webhookEventId } = await client.send({ subscriptionId });
  await eventually(async () =>
    expect(await client.deliveries(subscriptionId)).toMatchObject([
      { status: 'PENDING', isTest: true, delay: { reason: 'PAUSED' }, attempts: [] },
    ]),
  );
  expect(receiver.deliveries).toEqual([]);
  await client.resume(subscriptionId);
  const [, retried = missing()] = await receiver.waitFor(2);
  expect(bodyOf(retried).id).toBe(webhookEventId);
  expect(retried.headers).toMatchObject({ 'x-service-webhook-attempt': '2', 'x-service-webhook-test': 'true' });
});

test('an event that reports a change is no test', async () => {
  const client = clientOf('customer', '2026-11-01');
  const receiver = await openReceiver();
  const eventTypes = [{ type: 'order.placed' }];
  const subscriptionId = await client.subscribe({ callbackUrl: receiver.url, eventTypes });
  const { credential } = t.accounts.customer;
  await postGraphql(t.urls.customer, credential, {
    query: 'mutation { placeOrder(input: { item: "Ada" }) { order { id } } }',
  });
  const [{ headers } = missing()] = await receiver.waitFor(1);
  expect(headers).not.toHaveProperty('x-service-webhook-test');
  expect(await client.deliveries(subscriptionId)).toMatchObject([{ isTest: false }]);
});
