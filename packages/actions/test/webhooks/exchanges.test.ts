import { idAt, toRecordId } from '@deedwire/core';
import { createStore } from '@deedwire/store';
import { connect, eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import type { ExchangeDetails } from '@deedwire/webhook-sender';
import type { DeliveryId, SubscriptionId } from '@deedwire/webhooks/tables';
import {
  createServiceDatabase,
  type AttemptDetails,
  Exchanges,
  type ExchangesEvent,
  seedAccount,
  seedSubscription,
} from '@deedwire/webhooks/test-support';
import { beforeEach, expect, test } from 'vitest';
import { selectExchanges } from '../../src/webhooks/deliveries/exchanges.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const owner = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const store = await forFile(
  createStore({
    databaseUrl: await database.urlFor('webhook_worker'),
    applicationName: 'test',
    plansOnceByIndexes: true,
    maxConnections: 2,
    timeouts: { connectMs: 3_000, statementMs: 10_000, lockMs: 200, idleInTransactionMs: 10_000 },
  }),
);

let exchanges: Exchanges;
let events: ExchangesEvent[];
let subscriptionId: SubscriptionId;
/** The delays of the timers that wait, which `elapse` ends. */
let timers: { callback: () => void; delayMs: number }[];

const deliveryId: DeliveryId = idAt<'WebhookDelivery'>(new Date());
const startedAt = new Date(Date.now() - 60_000);

beforeEach(async () => {
  await superuser.run('delete from webhook_exchange; grant insert on webhook_exchange to webhook_worker');
  [events, timers] = [[], []];
  exchanges = new Exchanges({
    store,
    clock: {
      setTimer(callback, delayMs) {
        const timer = { callback, delayMs };
        timers.push(timer);
        return () => void (timers = timers.filter((each) => each !== timer));
      },
    },
    onEvent: (event) => void events.push(event),
  });
  const account = await seedAccount(owner, 'supplier');
  subscriptionId = await owner.transaction((transaction) => seedSubscription(transaction, account));
});

/** Ends the only timer, and waits for the next one. Returns how long the first one was to wait. */
async function elapse(): Promise<number> {
  const [timer, ...others] = timers.splice(0);
  expect(others).toEqual([]);
  timer?.callback();
  await eventually(() => expect(timers).toHaveLength(1));
  return timer?.delayMs ?? -1;
}

const countRows = async (): Promise<unknown> =>
  (await superuser.run('select count(*)::int as count from webhook_exchange'))[0]?.['count'];

function exchange(details: Partial<ExchangeDetails> = {}, number = 1): AttemptDetails {
  return {
    deliveryId,
    subscriptionId,
    number,
    startedAt,
    urlNumber: 3,
    replayId: toRecordId<'WebhookReplay'>('5'),
    details: {
      requestHeaders: ['host', 'receiver.example', 'x', '{"a,\\b}'],
      remoteAddress: 'fe80::1%lo',
      dnsMs: 1.4,
      connectMs: 0,
      tlsMs: null,
      firstByteMs: 20.6,
      responseHeaders: [],
      responseBody: Buffer.from([0, 255, 92, 34]),
      responseBytes: 70_000,
      ...details,
    },
  };
}

test('stores a batch after 100 ms as it was reported, in whole milliseconds, with the interface of the subscription', async () => {
  exchanges.add(exchange());
  exchanges.add(exchange({ remoteAddress: null, dnsMs: null, responseHeaders: ['a', '\0'], responseBody: null }, 2));
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([100]);
  timers[0]?.callback();
  await eventually(async () => expect(await countRows()).toBe(2));
  const rows = await superuser.run('select * from webhook_exchange order by number');
  expect(rows[0]).toEqual({
    id: expect.any(String),
    delivery_id: deliveryId,
    number: 1,
    started_at: startedAt,
    subscription_id: subscriptionId,
    interface: 'supplier',
    callback_url: null,
    url_number: 3,
    replay_id: '5',
    request_headers: ['host', 'receiver.example', 'x', '{"a,\\b}'],
    remote_address: 'fe80::1%lo',
    dns_ms: 1,
    connect_ms: 0,
    tls_ms: null,
    first_byte_ms: 21,
    response_headers: [],
    body: Buffer.from([0, 255, 92, 34]),
    body_bytes: 70_000,
  });
  expect(rows[1]).toMatchObject({
    remote_address: null,
    dns_ms: null,
    response_headers: ['a', '\u{FFFD}'],
    body: null,
  });
  expect(events).toEqual([]);
});

test('shows the replay that queued the delivery again, and no retry', async () => {
  const ids = await superuser.run(
    `insert into webhook_replay (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id, last_id)
     select account_id, interface, id, delivery_id, true, 50, 0, 1, 0
     from webhook_subscription, unnest(array[null, $1::bigint]) delivery_id
     where id = $2
     returning id, delivery_id`,
    [deliveryId, subscriptionId],
  );
  const idOf = (isRetry: boolean) =>
    toRecordId<'WebhookReplay'>(String(ids.find((row) => (row['delivery_id'] !== null) === isRetry)?.['id']));
  for (const [index, replayId] of [idOf(false), idOf(true), null].entries())
    exchanges.add({ ...exchange({}, index + 1), replayId });
  await exchanges.stop();
  const keys = [1, 2, 3].map((number) => ({ deliveryId, number, startedAt }));
  const shown = await selectExchanges(owner, keys);
  expect(shown.map((row) => row?.replayId)).toEqual([idOf(false), null, null]);
});

test('stores nothing of a deleted subscription, which nothing would erase', async () => {
  await superuser.run('update webhook_subscription set deleted_at = now() where id = $1', [subscriptionId]);
  exchanges.add(exchange());
  await exchanges.stop();
  expect([await countRows(), events]).toEqual([0, []]);
});

test('stores at most 256 exchanges and about 500 kB with a statement, and continues at once while many wait', async () => {
  for (let number = 1; number <= 600; number += 1) exchanges.add(exchange({}, number));
  expect(await elapse()).toBe(100);
  expect(await countRows()).toBe(256);
  expect(await elapse()).toBe(0);
  expect(await countRows()).toBe(512);
  const responseBody = Buffer.alloc(16_384);
  for (let number = 601; number <= 700; number += 1) exchanges.add(exchange({ responseBody }, number));
  expect(await elapse()).toBe(100);
  expect(await countRows()).toBeLessThan(640);
  await exchanges.stop();
  expect(await countRows()).toBe(700);
});

test('without the right to insert, it loses a batch at a time in growing pauses, and recovers', async () => {
  await superuser.run('revoke insert on webhook_exchange from webhook_worker');
  const pauses: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    exchanges.add(exchange());
    pauses.push(await elapse());
  }
  expect(pauses).toEqual([100, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(events).toHaveLength(9);
  expect(events[0]).toMatchObject({ kind: 'exchanges-not-stored', count: 1, error: { code: '42501' } });
  await superuser.run('grant insert on webhook_exchange to webhook_worker');
  exchanges.add(exchange());
  timers[0]?.callback();
  await eventually(async () => expect(await countRows()).toBe(1));
});

test('while the table is locked, it keeps a bounded number in memory, one connection, and counts what it loses', async () => {
  await superuser.run('begin; lock table webhook_exchange in access exclusive mode');
  for (let number = 1; number <= 10_000; number += 1) exchanges.add(exchange({}, number));
  const running = elapse();
  // The other connection serves the dispatcher.
  expect(await store.query({ name: 'test-free', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }]);
  await running;
  expect(events).toEqual([
    { kind: 'exchanges-dropped', count: 10_000 - 4_096 },
    { kind: 'exchanges-not-stored', count: 256, error: expect.any(Error) },
  ]);
  await superuser.run('rollback');
  await exchanges.stop();
  expect(await countRows()).toBe(4_096 - 256);
});

test('keeps at most 8 MB in memory', async () => {
  const responseBody = Buffer.alloc(16_384);
  for (let number = 1; number <= 1_000; number += 1) exchanges.add(exchange({ responseBody }, number));
  await exchanges.stop();
  expect(await countRows()).toBeLessThan(8_000_000 / 16_384);
  expect(await countRows()).toBeGreaterThan(400);
});

test('ends although the database refuses the details that are left', async () => {
  await superuser.run('revoke insert on webhook_exchange from webhook_worker');
  for (let number = 1; number <= 600; number += 1) exchanges.add(exchange({}, number));
  await exchanges.stop();
  expect(events.map(({ kind }) => kind)).toEqual(['exchanges-not-stored']);
  expect(timers).toEqual([]);
});
