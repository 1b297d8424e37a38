import { createServer } from 'node:http';
import { connect, constants, createServer as createHttp2Server } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '@deedwire/testing';
import { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { graphileWorkerInbox } from '../../src/graphile-worker.ts';
import { memoryStore } from '../../src/memory.ts';
import { nodeHandler } from '../../src/node.ts';
import { createInboxReceiver, createWebhookReceiver } from '../../src/receiver.ts';
import * as testing from '../../src/testing.ts';
import { handshakeRequest, testSecret } from '../../src/testing.ts';
import { deliveryOf, placed, secret } from '../support/delivery.ts';
import { logTo, silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { signedRequest } from '../support/requests.ts';

test('the memory store remembers the newest ids', async () => {
  const store = memoryStore({ maximum: 2 });
  for (const id of ['a', 'b', 'c']) expect(await store.once(id, async () => {})).toBe('processed');
  expect(await store.once('b', async () => {})).toBe('duplicate');
  expect(await store.once('c', async () => {})).toBe('duplicate');
  expect(await store.once('a', async () => {})).toBe('processed');
  expect(await store.forget({ since: new Date(Date.now() - 60_000) })).toBe(2);
  for (const maximum of [0, 1.5])
    expect(() => memoryStore({ maximum })).toThrow('maximum must be an integer of at least 1.');
});

test('the memory store remembers an id for 40 days', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const store = memoryStore();
  const days = 24 * 60 * 60 * 1000;
  await store.once('kept', async () => {});
  vi.setSystemTime(Date.now() + 40 * days - 1);
  expect(await store.once('kept', async () => {})).toBe('duplicate');
  vi.setSystemTime(Date.now() + 1);
  expect(await store.once('kept', async () => {})).toBe('processed');
});

test('names the newest version of each type that has a handler, as the subscription has to pin it', async () => {
  const on = {
    'webhook.test': { '2026-11-01': () => {} },
    'order.placed': { '2027-02-01': () => {}, '2026-11-01': () => {} },
    'api_key.created': {},
  };
  const pins = [
    { type: 'webhook.test', version: '2026-11-01' },
    { type: 'order.placed', version: '2027-02-01' },
  ];
  const secrets = [testSecret];
  expect(
    createWebhookReceiver({ events, prefix: 'X-Service', secrets, store: memoryStore(), on }).subscription(),
  ).toEqual(pins);
  const pool = new Pool();
  const inbox = graphileWorkerInbox(pool, { events, on });
  expect(createInboxReceiver({ events, prefix: 'X-Service', secrets, inbox }).subscription()).toEqual(pins);
  // An inbox of an application does not say which events it handles.
  const other = { ...inbox };
  Reflect.deleteProperty(other, 'subscription');
  expect(createInboxReceiver({ events, prefix: 'X-Service', secrets, inbox: other }).subscription()).toEqual([]);
  await pool.end();
});

test('gives the function for secrets the context of the platform', async () => {
  const receiver = createWebhookReceiver<typeof events, undefined, { WEBHOOK_SECRET: string }>({
    events,
    prefix: 'X-Service',
    secrets: ({ WEBHOOK_SECRET }) => [WEBHOOK_SECRET],
    store: memoryStore(),
    on: { 'webhook.test': { '2026-11-01': () => {} } },
    log: silent,
  });
  const status = async (bindings: { WEBHOOK_SECRET: string }): Promise<number> =>
    (await receiver.fetch(await signedRequest('webhook.test', '2026-11-01'), bindings)).status;
  expect(await status({ WEBHOOK_SECRET: testSecret })).toBe(200);
  expect(await status({ WEBHOOK_SECRET: secret })).toBe(401);
});

test('refuses a list with a malformed secret without showing it', () => {
  for (const bad of [`${secret}\n`, secret.slice(6), 'whsec_abc']) {
    const create = () =>
      createWebhookReceiver({ events, prefix: 'X-Service', secrets: [secret, bad], store: memoryStore(), on: {} });
    expect(create).toThrow(/^secrets\[1\]: /);
    expect(create).not.toThrow(bad);
  }
});

test('does not answer a second time if a middleware has answered', async () => {
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    store: memoryStore(),
    on: {},
    log: silent,
  });
  const handle = nodeHandler(receiver);
  const server = await listen(
    createServer((request, response) => {
      response.writeHead(504).end('timeout');
      handle(request, response);
    }),
  );
  const response = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', body: '{}' });
  expect([response.status, await response.text()]).toEqual([504, 'timeout']);
  await sleep(50);
  await server.close();
});

test('logs a request of HTTP/2 that is reset within its body as aborted, not as signed wrongly', async () => {
  const reported = Promise.withResolvers<string | undefined>();
  const log = logTo((_, { code }) => reported.resolve(code));
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    store: memoryStore(),
    on: {},
    log,
  });
  // The objects of HTTP/2 have the methods of those of node:http that the handler uses.
  const handler = nodeHandler(receiver) as unknown as Parameters<typeof createHttp2Server>[1];
  const arrived = Promise.withResolvers<void>();
  const server = await listen(createHttp2Server(handler).on('stream', () => arrived.resolve()));
  const session = connect(`http://127.0.0.1:${server.port}`);
  onTestFinished(async () => {
    session.destroy();
    await server.close();
  });
  const { headers, body } = deliveryOf();
  const stream = session.request({ ':method': 'POST', ...headers, 'content-length': body.byteLength });
  stream.on('error', () => {}).write(body.subarray(0, 100));
  await arrived.promise;
  stream.close(constants.NGHTTP2_CANCEL);
  expect(await reported.promise).toBe('BODY_ABORTED');
});

test('builds requests for tests', async () => {
  const handled: unknown[] = [];
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [testSecret],
    store: memoryStore(),
    on: {
      'webhook.test': {
        '2026-11-01': ({ data }, { id }) => {
          handled.push({ message: data.message, id });
        },
      },
    },
    log: silent,
  });
  const status = async (request: Promise<Request>): Promise<number> => (await receiver.fetch(await request)).status;
  expect(await status(signedRequest('webhook.test', '2026-11-01', { id: 'a', data: { message: 'Quay' } }))).toBe(200);
  expect(handled).toEqual([{ message: 'Quay', id: 'a' }]);
  expect(await status(handshakeRequest())).toBe(200);
  expect(await status(signedRequest('webhook.test', '2026-11-01', { secret }))).toBe(401);
  expect(await status(signedRequest('webhook.test', '2026-11-01', { secret, nextSecret: testSecret }))).toBe(200);
  expect(await status(signedRequest('webhook.test', '2026-11-01', { age: 400 }))).toBe(401);
  expect(await status(signedRequest('webhook.test', '2026-11-01', { tamper: (body) => `${body} ` }))).toBe(401);
});

test.each([
  [
    'a type that does not exist',
    { 'order.placd': { '2026-11-01': () => {} } },
    /^on: there is no event order.placd\/2026-11-01\. The package of the events has: api_key\.created\/2026-11-01, api_key/,
  ],
  [
    'a version that does not exist',
    { 'order.placed': { '2026-11-1': () => {} } },
    /^on: there is no event order.placed\/2026-11-1\. .*, order\.placed\/2027-02-01, /,
  ],
  [
    'a handler that is no function',
    { 'order.placed': { '2026-11-01': 'handler' } },
    'on: order.placed 2026-11-01 is no function.',
  ],
  [
    'a type that resembles none',
    { 'invoice.opened': { '2026-11-01': () => {} } },
    /event invoice.opened\/2026-11-01\. The package of the events has:/,
  ],
  ['a type with its version', { 'webhook.test/2026-11-01': { '': () => {} } }, /event webhook.test\/2026-11-01\/\. /],
  ['a function in place of the versions', { 'order.placed': () => {} }, /on must be an object of objects/],
  ['no handlers', undefined, /on must be an object of objects/],
])('refuses at the start %s', (_, on: unknown, message) => {
  const options = { events, prefix: 'X-Service', secrets: [secret], store: memoryStore() };
  // @ts-expect-error -- as in JavaScript
  expect(() => createWebhookReceiver({ ...options, on })).toThrow(message);
  // @ts-expect-error -- as in JavaScript
  expect(() => graphileWorkerInbox(new Pool(), { events, on })).toThrow(message);
});

test('refuses at the start to run without a package of events', () => {
  // @ts-expect-error -- as in JavaScript
  expect(() => createWebhookReceiver({ store: memoryStore(), on: {} })).toThrow('events must be a package of payloads');
});

test('compiles with handlers of existing types and versions only', () => {
  const options = { events, secrets: [secret], store: memoryStore() };
  const receivers = [
    () =>
      createWebhookReceiver({
        ...options,
        on: {
          'order.placed': {
            '2026-11-01': ({ data }) => data.orderId.toUpperCase(),
            '2027-02-01': ({ data }) => data.order.id.toUpperCase(),
          },
        },
      }),
    // @ts-expect-error -- a version that is retired or does not exist
    () => createWebhookReceiver({ ...options, on: { 'order.placed': { '2025-11-01': () => {} } } }),
    // @ts-expect-error -- no type
    () => createWebhookReceiver({ ...options, on: { 'order.placd': { '2026-11-01': () => {} } } }),
    () =>
      // @ts-expect-error -- a field of another type
      createWebhookReceiver({ ...options, on: { 'webhook.test': { '2026-11-01': ({ data }) => data.orderId } } }),
    () =>
      createWebhookReceiver({
        ...options,
        // @ts-expect-error -- the store has no transactions
        on: { 'webhook.test': { '2026-11-01': (_event, { transaction }) => transaction.query('') } },
      }),
  ];
  expect(receivers).toHaveLength(5);
});

test('compiles with the types, versions and fields of existing events only, in requests for tests', async () => {
  const { data } = placed;
  const requests = [
    testing.signedRequest(events, 'order.placed', '2026-11-01', data),
    // @ts-expect-error -- a field of another type
    testing.signedRequest(events, 'webhook.test', '2026-11-01', { orderId: 'gid://service/Order/1' }),
    // @ts-expect-error -- a value of another type
    testing.signedRequest(events, 'webhook.test', '2026-11-01', { message: 1 }),
  ];
  const bodies = await Promise.all(requests.map(async (request) => (await request).json()));
  expect(bodies).toMatchObject([{ type: 'order.placed', data }, { type: 'webhook.test' }, { data: { message: 1 } }]);
  // @ts-expect-error -- a version that the type does not have
  await expect(testing.signedRequest(events, 'webhook.test', '2027-02-01', data)).rejects.toThrow(TypeError);
  // @ts-expect-error -- no type
  await expect(testing.signedRequest(events, 'webhook.tesst', '2026-11-01', data)).rejects.toThrow(TypeError);
  for (const [type, version, problem] of [
    ['webhook.tesst', '2026-11-01', 'There is no event type webhook.tesst. Did you mean webhook.test?'],
    ['constructor', 'name', 'There is no event type constructor. This release has: '],
    ['webhook.test', '2025-11-01', 'webhook.test has no version 2025-11-01. This release has: webhook.test/2026'],
    ['webhook.test', 'constructor', 'webhook.test has no version constructor.'],
  ])
    // @ts-expect-error -- any text
    await expect(testing.signedRequest(events, type, version, data)).rejects.toThrow(problem);
});
