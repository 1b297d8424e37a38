import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { LogFields, ReceiverLog } from '../../src/log.ts';
import { memoryStore } from '../../src/memory.ts';
import type { WebhookReceiverOptions } from '../../src/options.ts';
import { createInboxReceiver, createWebhookReceiver, type WebhookReceiver } from '../../src/receiver.ts';
import type { ReceiverResult } from '../../src/report.ts';
import { handshakeRequest, testSecret } from '../../src/testing.ts';
import type { WebhookInbox } from '../../src/webhook-inbox.ts';
import { deliveryOf, asRequest, secret } from '../support/delivery.ts';
import { logTo, silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { signedRequest } from '../support/requests.ts';

type Options = Partial<WebhookReceiverOptions<typeof events, undefined, unknown>>;

const failing: Options['on'] = {
  'order.placed': {
    '2026-11-01': () => {
      throw new Error('duplicate key value', { cause: new RangeError('the disk is full') });
    },
  },
};

function receiverOf(options: Options): WebhookReceiver {
  return createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [testSecret],
    store: memoryStore(),
    on: { 'order.placed': { '2026-11-01': () => {} } },
    ...options,
  });
}

const place = async (receiver: WebhookReceiver, id: string): Promise<number> =>
  (await receiver.fetch(await signedRequest('order.placed', '2026-11-01', { id }))).status;

/** A signed request with any body. */
async function signed(receiver: WebhookReceiver, body: object, id?: string): Promise<number> {
  const delivery = deliveryOf({ body, secret: testSecret, ...(id !== undefined && { id }) });
  return (await receiver.fetch(asRequest(delivery))).status;
}

const event = { id: 'gid://service/WebhookEvent/1', timestamp: '2026-11-03T09:30:00.123Z', data: {} };

describe('a log', () => {
  const failure = {
    level: 50,
    code: 'HANDLER_FAILED',
    id: 'd1',
    type: 'order.placed',
    version: '2026-11-01',
    msg: 'HANDLER_FAILED: The handler of order.placed 2026-11-01 (d1) failed. Deedwire will retry the delivery.',
    err: { type: 'Error', message: expect.stringContaining('duplicate key value') },
  };

  test('of pino gets the fields, and the error with its cause', async () => {
    const lines: string[] = [];
    const receiver = receiverOf({ on: failing, log: pino({ base: null }, { write: (line) => void lines.push(line) }) });
    expect(await place(receiver, 'd1')).toBe(500);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([failure]);
    expect(lines[0]).toContain('caused by: RangeError: the disk is full');
  });

  test.each([{}, { log: console }])('defaults to console, which prints the message first: %j', async (options) => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => print.mockRestore());
    expect(await place(receiverOf({ on: failing, ...options }), 'd1')).toBe(500);
    expect(print.mock.calls).toEqual([
      [failure.msg, expect.objectContaining({ code: 'HANDLER_FAILED', err: expect.any(Error) })],
    ]);
  });

  test.each<[string, ReceiverLog]>([
    [
      'throws',
      logTo(() => {
        throw new Error('The disk of the log is full.');
      }),
    ],
    ['rejects', { error: () => Promise.reject(new Error('full')), warn: () => Promise.reject(new Error('full')) }],
    // @ts-expect-error -- without the level that refusals have
    ['has no warn', { error: () => {} }],
  ])('that %s changes nothing', async (_, log) => {
    const receiver = receiverOf({ on: failing, log });
    expect(await place(receiver, 'd1')).toBe(500);
    expect(await signed(receiver, { ...event, type: 'loan.funded', version: '2026-11-01' })).toBe(200);
    expect((await receiver.fetch(new Request('http://localhost'))).status).toBe(405);
  });
});

/** What is logged with these options. */
async function logged(use: (receiver: WebhookReceiver) => Promise<unknown>, options: Options = {}) {
  const lines: { message: string; fields: LogFields }[] = [];
  await use(receiverOf({ log: logTo((message, fields) => void lines.push({ message, fields })), ...options }));
  return lines;
}

async function sendUnhandled(receiver: WebhookReceiver): Promise<void> {
  for (const id of ['1', '2', '3']) {
    expect(await signed(receiver, { ...event, type: 'loan.funded', version: '2026-11-01' }, `a${id}`)).toBe(200);
    expect(await signed(receiver, { ...event, type: 'loan.funded', version: '2027-02-01' }, `b${id}`)).toBe(200);
    await receiver.fetch(await signedRequest('webhook.test', '2026-11-01', { id: `c${id}` }));
  }
}

test('logs each of 15 types without a handler, including within a minute', async () => {
  const types = Array.from({ length: 15 }, (_, index) => `loan.step${index}`);
  const lines = await logged(async (receiver) => {
    for (const type of types) await signed(receiver, { ...event, type, version: '2026-11-01' }, type.replace('.', '_'));
  });
  expect(lines.map(({ fields }) => fields.type)).toEqual(types);
});

const never = (): Promise<never> => Promise.reject(new Error('It was called.'));

test('logs events without a handler once for each type and version, with a store and with an inbox', async () => {
  const expected = [
    ['loan.funded', '2026-11-01', 'a1'],
    ['loan.funded', '2027-02-01', 'b1'],
    ['webhook.test', '2026-11-01', 'c1'],
  ].map(([type, version, id]) => ({
    message: `UNHANDLED: There is no handler for ${type} ${version}. Such events are acknowledged without an effect. This is logged once.`,
    fields: { code: 'UNHANDLED', id, type, version },
  }));
  expect(await logged(sendUnhandled)).toEqual(expected);

  const lines: unknown[] = [];
  const inbox: WebhookInbox = { handles: () => false, accept: never, forget: never };
  const log = logTo((message, fields) => void lines.push({ message, fields }));
  await sendUnhandled(createInboxReceiver({ events, prefix: 'X-Service', secrets: [testSecret], inbox, log }));
  expect(lines).toEqual(expected);
});

test('logs each refusal with its code, the reason and the problems of the body', async () => {
  const data = { item: null, note: null, placedAt: event.timestamp };
  const malformed = { ...event, type: 'order.placed', version: '2026-11-01', data };
  // The age in the log is in whole seconds, and a second can end between signing and verifying.
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines = await logged(async (receiver) => {
    expect((await receiver.fetch(await handshakeRequest({ secret }))).status).toBe(401);
    expect((await receiver.fetch(await handshakeRequest({ age: 302 }))).status).toBe(401);
    expect((await receiver.fetch(await handshakeRequest({ token: 'short' }))).status).toBe(400);
    expect(await signed(receiver, malformed)).toBe(400);
    const large = new Request('http://localhost', { method: 'POST', body: 'x'.repeat(300_001) });
    expect((await receiver.fetch(large)).status).toBe(413);
    await receiver.close();
    expect((await receiver.fetch(await handshakeRequest())).status).toBe(503);
  });
  expect(lines).toMatchObject([
    { message: expect.stringMatching(/^SIGNATURE_MISMATCH: .* Check that the secret is that of this/) },
    { message: expect.stringMatching(/^TIMESTAMP_TOO_OLD: The request was signed 302 s ago/) },
    { message: 'BODY_MALFORMED: Deedwire sends no such verification_token.' },
    {
      message: 'BODY_MALFORMED: Deedwire sends no such body.',
      fields: {
        code: 'BODY_MALFORMED',
        problems: [
          'data.orderId: Invalid input: expected string, received undefined',
          'data.item: Invalid input: expected string, received null',
        ],
      },
    },
    { message: 'BODY_TOO_LARGE: The body has more than 300,000 bytes.' },
    { message: 'CLOSING: The receiver is closed.' },
  ]);
});

test('logs 10 refusals a minute for each code, then says how many it left out', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const lines = await logged(async (receiver) => {
    const refuse = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time += 1)
        expect((await receiver.fetch(new Request('http://localhost'))).status).toBe(405);
    };
    await refuse(25);
    expect((await receiver.fetch(await handshakeRequest({ secret }))).status).toBe(401);
    vi.advanceTimersByTime(60_000);
    await refuse(2);
  });
  const method = { code: 'METHOD_NOT_ALLOWED' };
  expect(lines.map(({ fields }) => fields)).toEqual([
    ...Array.from({ length: 10 }, () => method),
    { code: 'SIGNATURE_MISMATCH' },
    { ...method, suppressed: 15 },
    method,
  ]);
});

test('logs each failure of a handler', async () => {
  const ids = Array.from({ length: 25 }, (_, index) => `d${index}`);
  const lines = await logged((receiver) => Promise.all(ids.map((id) => place(receiver, id))), { on: failing });
  expect(new Set(lines.map(({ fields }) => fields.id))).toEqual(new Set(ids));
});

test('calls onResult with what became of each request', async () => {
  const results: ReceiverResult[] = [];
  const receiver = receiverOf({ onResult: (result) => void results.push(result), log: silent });
  await receiver.fetch(await handshakeRequest());
  await place(receiver, 'd1');
  await place(receiver, 'd1');
  await signed(receiver, { ...event, type: 'loan.funded', version: '2026-11-01' }, 'd2');
  await signed(receiver, { ...event, type: 'webhook.test', version: '2026-11-01' }, 'd3');
  await receiver.fetch(await handshakeRequest({ secret }));
  await receiver.close();
  await place(receiver, 'd4');
  const none = { id: null, type: null, version: null };
  const order = { id: 'd1', type: 'order.placed', version: '2026-11-01' };
  expect(results.map(({ durationMs, ...result }) => ({ ...result, isTimed: durationMs >= 0 }))).toEqual(
    [
      { code: 'HANDSHAKE', status: 200, ...none },
      { code: 'PROCESSED', status: 200, ...order },
      { code: 'DUPLICATE', status: 200, ...order },
      { code: 'UNHANDLED', status: 200, id: 'd2', type: 'loan.funded', version: '2026-11-01' },
      { code: 'BODY_MALFORMED', status: 400, ...none },
      { code: 'SIGNATURE_MISMATCH', status: 401, ...none },
      { code: 'CLOSING', status: 503, ...none },
    ].map((result) => ({ ...result, isTimed: true })),
  );
});

test.each([
  () => {
    throw new Error('The metrics are full.');
  },
  () => Promise.reject(new Error('The metrics are full.')),
])('an onResult that fails changes nothing', async (onResult) => {
  expect(await place(receiverOf({ onResult }), 'd1')).toBe(200);
});
