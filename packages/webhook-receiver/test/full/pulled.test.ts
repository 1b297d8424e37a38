import type { PoolClient } from 'pg';
import { beforeEach, expect, test } from 'vitest';
import type { PulledDelivery } from '../../src/deliveries.ts';
import type { HandlerContext } from '../../src/handlers.ts';
import type { WebhookReceiverOptions } from '../../src/options.ts';
import { postgresKeptEvents, postgresStore } from '../../src/postgres.ts';
import { createWebhookReceiver, type PullingReceiver } from '../../src/receiver.ts';
import type { ReceiverResult } from '../../src/report.ts';
import { openDatabase } from '../support/database.ts';
import { placed, deliveryOf, asRequest, secret } from '../support/delivery.ts';
import { logLinesTo } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';

let called: Pick<HandlerContext<PoolClient>, 'id' | 'meta'>[];
let logged: string[];
let results: ReceiverResult[];

const { pool } = await openDatabase('');

beforeEach(async () => {
  called = [];
  logged = [];
  results = [];
  await pool.query('truncate webhook_receipt, webhook_kept_event');
});

const recording: WebhookReceiverOptions<typeof events, PoolClient, unknown>['on'] = {
  'order.placed': { '2026-11-01': (_event, { id, meta }) => void called.push({ id, meta }) },
};

function receiverOf(
  options: Partial<WebhookReceiverOptions<typeof events, PoolClient, unknown>> = {},
): PullingReceiver {
  return createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    store: postgresStore(pool),
    on: recording,
    onResult: (result) => void results.push(result),
    log: logLinesTo(logged),
    ...options,
  });
}

const pulled = {
  source: 'pull',
  unsigned: { subscriptionId: null, sequence: null, attempt: null, isTest: false, isReplay: false },
};
const payload = JSON.stringify(placed);

async function push(receiver: PullingReceiver, id: string): Promise<unknown> {
  const response = await receiver.fetch(asRequest(deliveryOf({ id })));
  return [response.status, await response.json()];
}

test('a delivery that is pulled and pushed is processed once, and its handler knows how it came', async () => {
  const receiver = receiverOf();
  expect(await receiver.processPulled({ id: 'a', payload })).toBe('PROCESSED');
  expect(await push(receiver, 'a')).toEqual([200, { result: 'duplicate' }]);
  expect(await push(receiver, 'b')).toEqual([200, { result: 'processed' }]);
  expect(await receiver.processPulled({ id: 'b', payload })).toBe('DUPLICATE');
  expect(called).toMatchObject([
    { id: 'a', meta: pulled },
    { id: 'b', meta: { source: 'push', unsigned: { sequence: 12 } } },
  ]);
  expect(results.map(({ code, id }) => [code, id])).toEqual([
    ['PROCESSED', 'a'],
    ['DUPLICATE', 'a'],
    ['PROCESSED', 'b'],
    ['DUPLICATE', 'b'],
  ]);
  expect(logged).toEqual([]);
});

test('the handler of a delivery that is pulled knows whether it is a test', async () => {
  const receiver = receiverOf();
  for (const isTest of [true, false]) await receiver.processPulled({ id: String(isTest), payload, isTest });
  expect(called.map(({ id, meta }) => [id, meta.unsigned.isTest])).toEqual([
    ['true', true],
    ['false', false],
  ]);
});

test('50 pulls and pushes of a delivery at once have one effect', async () => {
  const receiver = receiverOf();
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0 ? push(receiver, 'a') : receiver.processPulled({ id: 'a', payload }),
    ),
  );
  expect(called).toHaveLength(1);
});

test('with event.id as its key, a pulled delivery is recognized in the delivery of another subscription', async () => {
  const receiver = receiverOf({ key: 'event.id' });
  expect(await receiver.processPulled({ id: 'of-first-subscription', payload })).toBe('PROCESSED');
  expect(await push(receiver, 'of-second-subscription')).toEqual([200, { result: 'duplicate' }]);
  expect(await push(receiverOf(), 'of-first-subscription')).toEqual([200, { result: 'duplicate' }]);
});

test('a pull that fails says so, is not recorded, and can be repeated', async () => {
  let isBroken = true;
  const receiver = receiverOf({
    on: {
      'order.placed': {
        '2026-11-01': () => {
          if (isBroken) throw new Error('The disk is full.');
        },
      },
    },
  });
  expect(await receiver.processPulled({ id: 'a', payload })).toBe('HANDLER_FAILED');
  expect(logged).toEqual([
    expect.stringMatching(/^HANDLER_FAILED: The handler of .* failed. Pull it again. .*The disk is full./),
  ]);
  isBroken = false;
  expect(await receiver.processPulled({ id: 'a', payload })).toBe('PROCESSED');
});

test('a pull is refused with a code as a request would be', async () => {
  const receiver = receiverOf({ rejectUnhandled: true, on: {} });
  const without: { payload: string } = { payload };
  const codes = [
    await receiver.processPulled({ id: 'a', payload }),
    await receiver.processPulled({ id: 'a', payload: `${payload}}` }),
    await receiver.processPulled({ id: '', payload }),
    // @ts-expect-error -- as JavaScript can call it
    await receiver.processPulled(without),
    // @ts-expect-error -- the payload of a delivery whose rendering failed
    await receiver.processPulled({ id: 'a', payload: null }),
  ];
  expect(codes).toEqual(['UNHANDLED', 'BODY_MALFORMED', 'ID_MISSING', 'ID_MISSING', 'BODY_MALFORMED']);
  await receiver.close();
  expect(await receiver.processPulled({ id: 'a', payload })).toBe('CLOSING');
  expect(called).toEqual([]);
});

function fail(): never {
  throw new Error('A getter failed.');
}

test('what JavaScript can pass instead of a delivery is refused, and the log says what to pass', async () => {
  const receiver = receiverOf();
  const refused: [delivery: unknown, code: string, line: RegExp][] = [
    [undefined, 'BODY_MALFORMED', /payload must be a string./],
    [null, 'BODY_MALFORMED', /payload must be a string./],
    [{ id: 'a', payload: null }, 'BODY_MALFORMED', /payload must be a string./],
    [{ id: 'a', payload: placed }, 'BODY_MALFORMED', /payload must be a string./],
    [{ id: 'a', payload: Buffer.from(payload) }, 'BODY_MALFORMED', /payload must be a string./],
    [{ id: 'a', payload: Symbol('a') }, 'BODY_MALFORMED', /payload must be a string./],
    [{ id: 'a', payload: '{"verification_token":"0123456789abcdef"}' }, 'BODY_MALFORMED', /verification_token/],
    [{ id: 7, payload }, 'ID_MISSING', /The id must be that of a WebhookDelivery, not 7./],
    [{ id: { id: 'a' }, payload }, 'ID_MISSING', /not \[object Object\]./],
    [{ id: null, payload }, 'ID_MISSING', /not null./],
    [Object.defineProperty({ payload }, 'id', { get: fail }), 'HANDLER_FAILED', /The receiver failed./],
  ];
  for (const [delivery, code, line] of refused) {
    expect(await receiver.processPulled(delivery as PulledDelivery)).toBe(code);
    expect(logged.at(-1)).toMatch(line);
  }
  expect(called).toEqual([]);
});

test('the id of something else is refused: of the event, a request would have a second effect, and of the subscription, others would be duplicates', async () => {
  const receiver = receiverOf();
  for (const id of [placed.id, 'gid://service/WebhookSubscription/7']) {
    expect(await receiver.processPulled({ id, payload })).toBe('ID_MISSING');
    expect(logged.at(-1)).toContain(`The id must be that of a WebhookDelivery, not ${id}.`);
  }
  expect(await receiverOf({ key: 'event.id' }).processPulled({ id: placed.id, payload })).toBe('ID_MISSING');
  expect(await receiver.processPulled({ id: 'gid://service/WebhookDelivery/7', payload })).toBe('PROCESSED');
  expect(called).toHaveLength(1);
});

test('a pull of an event without a handler is kept with its source', async () => {
  const keepUnhandled = postgresKeptEvents(pool);
  expect(await receiverOf({ on: {}, keepUnhandled }).processPulled({ id: 'a', payload })).toBe('KEPT');
  expect(await receiverOf({ keepUnhandled }).processKept()).toEqual({ processed: 1, failed: 0 });
  expect(called).toEqual([{ id: 'a', meta: pulled }]);
});

test('an event that an earlier release kept has the source push', async () => {
  const keepUnhandled = postgresKeptEvents(pool);
  await push(receiverOf({ on: {}, keepUnhandled }), 'a');
  await pool.query(`update webhook_kept_event set unsigned = (unsigned::jsonb - 'source')::text`);
  await receiverOf({ keepUnhandled }).processKept();
  expect(called).toMatchObject([{ id: 'a', meta: { source: 'push', unsigned: { sequence: 12, attempt: 3 } } }]);
});
