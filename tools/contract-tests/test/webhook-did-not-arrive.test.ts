import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { eventually, missing, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { documents } from './support/did-not-arrive-page.ts';
import { contracts, served } from './support/interface-contracts.ts';
import { subscribe } from './support/subscribe.ts';

const schemas = served.map(({ account, date }) => buildSchema(contracts[account].sdl(date)));

test('the page has the operations that the tests below run, and they are valid at every version', () => {
  expect(Object.keys(documents)).toEqual([
    'Health',
    'SendTest',
    'FindDeliveries',
    'FindDeliveriesById',
    'Subscriptions',
    'ExplainDelivery',
    'OlderAttempts',
    'RetryDelivery',
    'SendPending',
    'ReplayFailed',
    'ReplayProgress',
  ]);
  for (const schema of schemas)
    for (const text of Object.values(documents)) expect(validate(schema, parse(text))).toEqual([]);
});

// The webhook half is the same in each interface, so one runs the operations.
const t = await forFile(joinSharedSystem());
const receiver = await forFile(startReceiver());
const eventType = 'order.placed';
const range = { eventType, since: new Date(Date.now() - 60_000).toISOString() };
const run = <Data extends object>(text = '', variables: object = {}): Promise<Data> =>
  t.customer.request<Data, object>(parse(text), variables);

receiver.onDelivery = (response) => response.writeHead(404, { Server: 'test-proxy' }).end('No such path');
const { id: subscriptionId } = await subscribe(t.customer, {
  callbackUrl: receiver.url,
  eventTypes: [{ type: eventType }],
});
const { placeOrder } = await run<{ placeOrder: { order: { id: string } } }>(
  'mutation { placeOrder(input: { item: "Ada" }) { order { id } } }',
);
const [{ headers, body } = missing()] = await receiver.waitFor(1);
const id = String(headers['webhook-id']);

test('finds the delivery by its type and time, by its record and by its event, and nothing later', async () => {
  const found = await run<{ webhookDeliveries: { nodes: { event: { eventId: string } }[] } }>(
    documents['FindDeliveries'],
    range,
  );
  expect(found).toEqual({
    webhookDeliveries: {
      nodes: [
        {
          id,
          subscriptionId,
          createdAt: expect.any(String),
          status: 'PENDING',
          attemptCount: expect.any(Number),
          event: { eventId: expect.any(String), timestamp: expect.any(String) },
        },
      ],
      pageInfo: { endCursor: expect.any(String), hasNextPage: false },
    },
  });
  const [{ event } = missing()] = found.webhookDeliveries.nodes;
  for (const filter of [{ recordId: placeOrder.order.id }, { eventId: event.eventId }])
    expect(await run(documents['FindDeliveriesById'], filter)).toMatchObject({
      webhookDeliveries: { nodes: [{ id, event: { type: eventType } }], pageInfo: { hasNextPage: false } },
    });
  const later = { eventType, since: new Date(Date.now() + 60_000).toISOString() };
  expect(await run(documents['FindDeliveries'], later)).toEqual({
    webhookDeliveries: { nodes: [], pageInfo: { endCursor: null, hasNextPage: false } },
  });
});

test('shows the subscription with its health and its event types', async () => {
  expect(await run(documents['Health'])).toMatchObject({
    webhookSubscriptions: { nodes: [{ id: subscriptionId, health: { state: 'RETRYING', pendingCount: 1 } }] },
  });
  expect(await run(documents['Subscriptions'])).toMatchObject({
    webhookSubscriptions: { nodes: [{ id: subscriptionId, status: 'ACTIVE', eventTypes: [{ type: eventType }] }] },
  });
});

test('says why the delivery is late, what came back and what to do, and has the exact payload', async () => {
  await eventually(async () => {
    expect(await run(documents['ExplainDelivery'], { id })).toMatchObject({
      webhookDelivery: {
        status: 'PENDING',
        delay: {
          reason: expect.stringMatching(/^(?:RETRY_SCHEDULED|WAITING_FOR_TURN)$/),
          message: expect.any(String),
        },
        subscription: { callbackUrl: receiver.url },
        attempts: expect.arrayContaining([
          expect.objectContaining({
            number: 1,
            responseStatus: 404,
            advice: expect.stringContaining('The path does not exist'),
            exchange: expect.objectContaining({
              callbackUrl: receiver.url,
              remoteAddress: '127.0.0.1',
              responseHeaders: expect.arrayContaining([{ name: 'server', value: 'test-proxy' }]),
              responseBody: 'No such path',
            }),
          }),
        ]),
        payload: body.toString(),
      },
    });
  });
  expect(await run(documents['OlderAttempts'], { id, before: 2 })).toMatchObject({
    webhookDelivery: { attempts: [{ number: 1, responseStatus: 404 }] },
  });
  expect(await run(documents['OlderAttempts'], { id, before: 1 })).toEqual({ webhookDelivery: { attempts: [] } });
});

test('sends pending deliveries before their next attempt is due', async () => {
  const before = receiver.deliveries.length;
  expect(await run(documents['SendPending'], { subscriptionId })).toEqual({
    sendPendingWebhookDeliveries: {
      webhookSubscription: { status: 'ACTIVE', health: { pendingCount: 1 } },
      userErrors: [],
    },
  });
  await receiver.waitFor(before + 1);
});

test('counts what has failed, which is nothing, and replays it', async () => {
  const failed = { subscriptionId, since: range.since };
  expect(await run(documents['ReplayFailed'], { ...failed, dryRun: true })).toEqual({
    replayWebhookEvents: {
      estimate: { count: 0, isLowerBound: false, seconds: 0 },
      webhookReplay: null,
      userErrors: [],
    },
  });
  const { replayWebhookEvents } = await run<{ replayWebhookEvents: { webhookReplay: { id: string } } }>(
    documents['ReplayFailed'],
    { ...failed, dryRun: false },
  );
  expect(await run(documents['ReplayProgress'], { id: replayWebhookEvents.webhookReplay.id })).toMatchObject({
    webhookReplay: { queuedCount: 0, skippedCount: 0 },
  });
});

test('sends the delivery again before its next attempt is due', async () => {
  const before = receiver.deliveries.length;
  receiver.onDelivery = (response) => response.writeHead(200).end();
  expect(await run(documents['RetryDelivery'], { id })).toMatchObject({
    retryWebhookDelivery: { webhookDelivery: { status: expect.any(String) }, userErrors: [] },
  });
  await receiver.waitFor(before + 1);
  await eventually(async () =>
    expect(await run(documents['ExplainDelivery'], { id })).toMatchObject({ webhookDelivery: { status: 'DELIVERED' } }),
  );
});

test('sends a test event, whose delivery can be found', async () => {
  const send = async (type: string) => {
    const { sendTestWebhookEvent } = await run<{ sendTestWebhookEvent: { webhookEventId: string | null } }>(
      documents['SendTest'],
      { subscriptionId, eventType: type },
    );
    return sendTestWebhookEvent;
  };
  const { webhookEventId } = await send(eventType);
  const tests = await eventually(() => {
    const found = receiver.deliveries.filter(({ headers: sent }) => sent['x-service-webhook-test'] === 'true');
    expect(found).toHaveLength(1);
    return found;
  });
  expect(JSON.parse(String(tests[0]?.body))).toMatchObject({ id: webhookEventId });
  const { webhookDeliveries } = await run<{ webhookDeliveries: { nodes: object[] } }>(
    documents['FindDeliveries'],
    range,
  );
  expect(webhookDeliveries.nodes[0]).toMatchObject({ event: { eventId: webhookEventId } });
  expect(await send('webhook.test')).toEqual({
    webhookEventId: null,
    userErrors: [{ code: 'NOT_SUBSCRIBED', message: expect.stringContaining(`It receives ${eventType}.`) }],
  });
});
