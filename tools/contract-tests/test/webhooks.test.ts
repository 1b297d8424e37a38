import { randomBytes } from 'node:crypto';
import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { missing, type Receiver, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { parse } from 'graphql';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as operations from './support/webhook-operations.ts';

let receiver: Receiver;

const t = await forFile(joinSharedSystem());

beforeEach(async () => {
  receiver = await startReceiver();
  await t.forgetHandshakes();
});

afterEach(async () => {
  await receiver.close();
  const { webhookSubscriptions } = await t.customer.request(operations.SubscriptionsDocument, { first: 100 });
  for (const { id } of webhookSubscriptions.nodes) {
    await t.customer.request(operations.UnsubscribeDocument, { input: { id } });
  }
});

/** Ids that identify no record of the type: unknown, of another type or namespace, too large, and malformed. */
const unknownGids = (typeName: string): string[] => [
  `gid://service/${typeName}/9223372036854775807`,
  'gid://service/Order/1',
  `gid://elsewhere/${typeName}/1`,
  `gid://service/${typeName}/99999999999999999999`,
  "'; drop table webhook_subscription; --",
  '',
];

type Input = operations.SubscribeInput;

const placed = [{ type: 'order.placed' }];

async function subscribe(input: Partial<Input> = {}) {
  const { createWebhookSubscription } = await t.customer.request(operations.SubscribeDocument, {
    input: { callbackUrl: receiver.url, eventTypes: placed, ...input },
  });
  return createWebhookSubscription;
}

function headersOf(received: { headers: object }): Record<string, string> {
  return Object.fromEntries(Object.entries(received.headers).map(([name, value]) => [name, String(value)]));
}

test('creates a subscription after a handshake and delivers a signed event to it', async () => {
  const { webhookSubscription, webhookSecret, userErrors } = await subscribe({
    eventTypes: [{ type: 'order.placed', version: '2026-11-01' }],
  });
  expect(userErrors).toEqual([]);
  expect(webhookSubscription).toEqual({
    id: expect.stringMatching(/^gid:\/\/service\/WebhookSubscription\/\d+$/),
    callbackUrl: receiver.url,
    status: 'ACTIVE',
    pausedReason: null,
    pausedAt: null,
    createdAt: expect.any(String),
    eventTypes: [{ type: 'order.placed', version: '2026-11-01' }],
  });
  expect(webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

  const [handshake] = receiver.handshakes;
  expect(receiver.handshakes).toHaveLength(1);
  expect(handshake?.method).toBe('POST');
  expect(Object.keys(JSON.parse(String(handshake?.body)))).toEqual(['verification_token']);
  expect(handshake?.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^Deedwire-Webhooks\/\d+\.\d+\.\d+$/),
    'x-service-webhook-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    'x-service-webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-id': expect.stringMatching(/^handshake_/),
  });

  const [orderId] = await t.place(1);
  const [delivery] = await receiver.waitFor(1);
  if (delivery === undefined || webhookSecret === null)
    throw new Error('The subscription has no secret, or no delivery arrived.');
  const verified = verifyWebhook({ headers: delivery.headers, body: delivery.body, secret: webhookSecret });
  new Webhook(webhookSecret).verify(delivery.body.toString(), headersOf(delivery));
  expect(JSON.parse(delivery.body.toString())).toMatchObject({
    type: 'order.placed',
    version: '2026-11-01',
    data: { orderId, item: 'Item 0' },
  });

  await expect
    .poll(async () => t.customer.request(operations.DeliveryDocument, { id: verified.id ?? '' }))
    .toMatchObject({
      webhookDelivery: {
        id: verified.id,
        sequence: 1,
        status: 'DELIVERED',
        nextAttemptAt: null,
        event: { type: 'order.placed', version: '2026-11-01', id: JSON.parse(delivery.body.toString()).id },
        attempts: [{ number: 1, responseStatus: 204, error: null }],
      },
    });
  const document = parse('query ($id: ID!) { webhookDelivery(id: $id) { payload } }');
  expect(await t.customer.request<object, object>(document, { id: verified.id })).toEqual({
    webhookDelivery: { payload: delivery.body.toString('utf8') },
  });
});

test('logs each attempt with the id of the request that caused its event', async () => {
  await subscribe({ eventTypes: [{ type: 'order.placed' }] });
  const { headers } = await t.customer.send(operations.PlaceDocument, { input: { item: 'Ada Example' } });
  const requestId = headers.get('x-request-id') ?? missing();
  await expect
    .poll(async () => (await t.logLines(requestId)).map((line) => JSON.parse(line)))
    .toContainEqual(expect.objectContaining({ msg: 'attempt', requestId }));
});

test('logs why the host of a callback URL could not be called, with the id of the request', async () => {
  const { headers } = await t.customer.send(operations.SubscribeDocument, {
    input: { callbackUrl: 'http://deedwire.invalid/', eventTypes: [{ type: 'order.placed' }] },
  });
  const requestId = headers.get('x-request-id') ?? missing();
  await expect
    .poll(async () => (await t.logLines(requestId)).map((line) => JSON.parse(line)))
    .toContainEqual(
      expect.objectContaining({
        msg: 'callback host refused',
        requestId,
        host: 'deedwire.invalid',
        found: expect.any(String),
      }),
    );
});

test('signs the handshake with the secret that the client supplies', async () => {
  const own = `whsec_${randomBytes(32).toString('base64')}`;
  const { webhookSecret } = await subscribe({ webhookSecret: own });
  expect(webhookSecret).toBe(own);
  const [handshake] = receiver.handshakes;
  verifyWebhook({ headers: handshake?.headers ?? {}, body: handshake?.body ?? '', secret: own });
});

test('returns the same subscription and secret for a reused idempotency key, without another handshake', async () => {
  const input = { idempotencyKey: 'subscribe-1' };
  const first = await subscribe(input);
  const second = await subscribe(input);
  expect(second).toEqual(first);
  expect(first.webhookSecret).not.toBeNull();
  expect(receiver.handshakes).toHaveLength(1);
});

test.each<[string, string, RegExp, Receiver['onHandshake']]>([
  ['status 500', 'VERIFICATION_STATUS', /500/, (response) => response.writeHead(500).end('boom')],
  ['no response within 5 seconds', 'VERIFICATION_TIMEOUT', /within 5 s\b/, () => {}],
])('creates no subscription and returns why the handshake failed: %s', async (_, code, message, respond) => {
  receiver.onHandshake = respond;
  const { webhookSubscription, webhookSecret, userErrors } = await subscribe({ idempotencyKey: 'handshake-fails' });
  expect({ webhookSubscription, webhookSecret }).toEqual({ webhookSubscription: null, webhookSecret: null });
  expect(userErrors).toEqual([{ code, field: ['input', 'callbackUrl'], message: expect.stringMatching(message) }]);
  const { webhookSubscriptions } = await t.customer.request(operations.SubscriptionsDocument, {});
  expect(webhookSubscriptions.nodes).toEqual([]);
});

test('rejects an invalid input before the handshake, with each user error', async () => {
  const { webhookSubscription, userErrors } = await subscribe({
    callbackUrl: 'hook',
    eventTypes: [...placed, ...placed, { type: 'order.lost' }, { type: 'api_key.created', version: '1999-01-01' }],
    webhookSecret: 'secret',
    timeoutSeconds: 4,
    requestHeader: { name: 'Host', value: '' },
    idempotencyKey: '',
  });
  expect(webhookSubscription).toBeNull();
  expect(userErrors.map(({ code, field }) => [code, field?.join('.')])).toEqual([
    ['CALLBACK_URL_INVALID', 'input.callbackUrl'],
    ['EVENT_TYPES_INVALID', 'input.eventTypes.1'],
    ['EVENT_TYPE_UNKNOWN', 'input.eventTypes.2.type'],
    ['EVENT_VERSION_UNKNOWN', 'input.eventTypes.3.version'],
    ['WEBHOOK_SECRET_INVALID', 'input.webhookSecret'],
    ['TIMEOUT_INVALID', 'input.timeoutSeconds'],
    ['REQUEST_HEADER_INVALID', 'input.requestHeader.name'],
    ['REQUEST_HEADER_INVALID', 'input.requestHeader.value'],
    ['IDEMPOTENCY_KEY_INVALID', 'input.idempotencyKey'],
  ]);
  expect(receiver.handshakes).toEqual([]);
});

test('verifies a new callback URL with the same secret and delivers later events to it', async () => {
  const { webhookSubscription, webhookSecret } = await subscribe({ eventTypes: [{ type: 'api_key.created' }] });
  const id = webhookSubscription?.id ?? '';
  const successor = await forTest(startReceiver());
  successor.onHandshake = (response) => response.writeHead(500).end();
  const rejected = await t.customer.request(operations.ChangeSubscriptionDocument, {
    input: { id, callbackUrl: successor.url },
  });
  expect(rejected.updateWebhookSubscription).toMatchObject({
    webhookSubscription: null,
    userErrors: [{ code: 'VERIFICATION_STATUS' }],
  });
  const kept = await t.customer.request(operations.SubscriptionDocument, { id });
  expect(kept.webhookSubscription?.callbackUrl).toBe(receiver.url);

  successor.onHandshake = (response, { body }) => response.writeHead(200).end(body);
  const changed = await t.customer.request(operations.ChangeSubscriptionDocument, {
    input: { id, callbackUrl: successor.url, eventTypes: [{ type: 'order.placed' }] },
  });
  expect(changed.updateWebhookSubscription).toMatchObject({
    webhookSubscription: {
      id,
      callbackUrl: successor.url,
      eventTypes: [{ type: 'order.placed', version: '2026-11-01' }],
    },
    userErrors: [],
  });
  const [, handshake] = successor.handshakes;
  verifyWebhook({ headers: handshake?.headers ?? {}, body: handshake?.body ?? '', secret: webhookSecret ?? '' });
  await t.customer.request(operations.PlaceDocument, { input: { item: 'After the move' } });
  await successor.waitFor(1);
  expect(receiver.deliveries).toEqual([]);
});

describe('access by id', () => {
  let id: string;
  beforeEach(async () => {
    id = (await subscribe()).webhookSubscription?.id ?? '';
  });

  test('does not find a subscription or a delivery by an id that identifies none', async () => {
    for (const unknown of unknownGids('WebhookSubscription')) {
      expect(await t.customer.request(operations.SubscriptionDocument, { id: unknown })).toEqual({
        webhookSubscription: null,
      });
      expect(await t.customer.request(operations.DeliveriesDocument, { subscriptionId: unknown })).toMatchObject({
        webhookDeliveries: { nodes: [] },
      });
      const removal = await t.customer.request(operations.UnsubscribeDocument, { input: { id: unknown } });
      expect(removal.deleteWebhookSubscription.userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
    }
    for (const unknown of unknownGids('WebhookDelivery'))
      expect(await t.customer.request(operations.DeliveryDocument, { id: unknown })).toEqual({ webhookDelivery: null });
  });

  test('does not find a delivery of a deleted subscription', async () => {
    await t.place(1);
    await receiver.waitFor(1);
    const { webhookDeliveries } = await t.customer.request(operations.DeliveriesDocument, { subscriptionId: id });
    const deliveryId = webhookDeliveries.nodes[0]?.id ?? '';
    expect(deliveryId).not.toBe('');
    await t.customer.request(operations.UnsubscribeDocument, { input: { id } });
    expect(await t.customer.request(operations.DeliveryDocument, { id: deliveryId })).toEqual({
      webhookDelivery: null,
    });
  });
});
