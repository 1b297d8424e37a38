import { expect, test, vi } from 'vitest';
import { appendSubscriptionChange } from '../../src/outbox/append-subscription-change.ts';
import { type SeededAccount, seedAccount, seedEvents, seedSubscription } from '../support/seed.ts';
import { FanOutWorld } from './fan-out-world.ts';
import { interceptStore } from './faulty-store.ts';

const waits = { timeout: 100_000, interval: 10 };
const type = 'referral.created';

async function subscribe(world: FanOutWorld, account: SeededAccount, version: string, eventType = type) {
  return world.store.transaction((transaction) =>
    seedSubscription(transaction, account, { pins: [{ type: eventType, version }] }),
  );
}

const addEvents = (world: FanOutWorld, account: SeededAccount, count: number, eventType = type): Promise<void> =>
  world.store.transaction((transaction) => seedEvents(transaction, account, count, eventType));

const lanesOf = (world: FanOutWorld): string[] => world.offered.map(({ subscriptionId }) => subscriptionId).toSorted();

test('a version that cannot be rendered fails with an alarm for the subscriptions that pin it', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  const broken = await subscribe(world, account, 'broken');
  const working = await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 2);
  world.start();
  await vi.waitFor(() => expect(lanesOf(world)).toEqual([working, working]), waits);
  expect(
    await world.rows(
      `select d.subscription_id as id, d.sequence::int, a.error
       from webhook_failed_delivery f join webhook_delivery d on d.id = f.delivery_id join webhook_attempt a on a.delivery_id = d.id
       order by d.sequence`,
    ),
  ).toEqual([
    { id: broken, sequence: 1, error: 'RENDERING_FAILED' },
    { id: broken, sequence: 2, error: 'RENDERING_FAILED' },
  ]);
  expect(world.ofKind('rendering-failed')).toHaveLength(2);
});

test('an unknown version waits for its subscription only, and is delivered when it pins a known one', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  const unknown = await subscribe(world, account, 'unknown');
  const known = await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 3);
  world.start();
  await vi.waitFor(() => expect(world.ofKind('entries-blocked').at(-1)?.count).toBe(3), waits);
  expect(lanesOf(world)).toEqual([known, known, known]);
  expect(await world.count('webhook_event_queue where event_id is not null')).toBe(3);

  await world.rows(`update webhook_subscription_event_type set event_version = '2026-11-01'`);
  await world.store.transaction((transaction) =>
    appendSubscriptionChange(transaction, {
      accountId: account.id,
      interfaceName: account.interfaceName,
      subscriptionId: unknown,
    }),
  );
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  // Another round stored the payloads, so the lane is read instead of being offered the deliveries.
  await vi.waitFor(() => expect(world.uncertain.map(({ subscriptionId }) => subscriptionId)).toContain(unknown), waits);
  const rows = await world.rows<{ number: number }>(
    `select (e.snapshot ->> 'number')::int as number from webhook_pending_delivery p join webhook_event e on e.id = p.event_id
     where p.subscription_id = $1 order by p.sequence`,
    [unknown],
  );
  expect(rows.map(({ number }) => number)).toEqual([1, 2, 3]);
});

test('an unknown type is blocked while a subscription pins it, and delays no other event', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  await subscribe(world, account, 'any', 'unknown.type');
  const known = await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 2, 'unknown.type');
  await addEvents(world, account, 1);
  world.start({ limits: { blockedMs: 60, pinsMaxAgeMs: 20 } });
  await vi.waitFor(() => expect(lanesOf(world)).toEqual([known]), waits);
  await vi.waitFor(() => expect(world.ofKind('entries-blocked').at(-1)?.count).toBe(2), waits);
  // Without a notification: the entries are examined again after a while.
  await world.rows(`delete from webhook_subscription_event_type where event_type = 'unknown.type'`);
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
});

test('100,000 blocked events are read once, and another account is not delayed', async () => {
  const world = await FanOutWorld.create();
  const [blocked, other] = [await seedAccount(world.store), await seedAccount(world.store)];
  await subscribe(world, blocked, 'any', 'unknown.type');
  await subscribe(world, other, '2026-11-01');
  await addEvents(world, blocked, 1, 'unknown.type');
  await world.rows(
    `insert into webhook_event_queue (account_id, interface, event_id)
     select account_id, interface, id from webhook_event, generate_series(1, 99999)`,
  );
  let reads = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-events'(run) {
      reads += 1;
      return run();
    },
  });
  const fanOut = world.start({ store, limits: { bulkDeliveries: 5_000 } });
  await vi.waitFor(() => expect(world.ofKind('entries-blocked').at(-1)?.count).toBe(100_000), waits);
  const readsBefore = reads;
  await addEvents(world, other, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  expect(reads).toBe(readsBefore + 1);
  expect(world.ofKind('fanned-out').at(-1)).toMatchObject({ round: 'express', entries: 1, deliveries: 1 });
});

test('a new subscription receives the events that were queued after it was created', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  const first = await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 2);
  const second = await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 1);
  world.start();
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await vi.waitFor(() => expect(lanesOf(world)).toEqual([first, first, first, second].toSorted()), waits);
});

test('a subscription that is created while fan-out runs receives the next event', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 1);
  const fanOut = world.start({ limits: { pinsMaxAgeMs: 100_000_000 } });
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
});

test('a change is applied before its entry is deleted, and again after it failed', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  const subscriptionId = await subscribe(world, account, '2026-11-01');
  let calls = 0;
  world.start({
    limits: { blockedMs: 60 },
    async onSubscriptionChanged(change) {
      expect(change).toEqual({ subscriptionId, accountId: account.id });
      expect(await world.count('webhook_event_queue')).toBe(1);
      calls += 1;
      if (calls === 1) throw new Error('It cannot be applied.');
    },
  });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  expect(calls).toBe(2);
  expect(world.ofKind('change-failed')).toHaveLength(1);
});

test('deliveries of a paused subscription are stored and not offered', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  await subscribe(world, account, '2026-11-01');
  await world.rows(`update webhook_subscription set paused_reason = 'OWNER', paused_at = now()`);
  await addEvents(world, account, 1);
  const fanOut = world.start();
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await fanOut.stop();
  expect(await world.count('webhook_pending_delivery')).toBe(1);
  expect(world.offered).toEqual([]);
});

test('an event of an account without a backlog takes three statements', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 1);
  const statements: string[] = [];
  const store = interceptStore(world.workerStore, {});
  const fanOut = world.start({
    store: {
      ...store,
      async query(statement, values) {
        statements.push(statement.name);
        return store.query(statement, values);
      },
    },
    limits: { pollMs: 100_000_000 },
  });
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  statements.length = 0;
  await addEvents(world, account, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(2), waits);
  await fanOut.stop();
  expect(statements).toEqual(['fan-out-read-queue', 'fan-out-read-events', 'fan-out-write-round']);
});

test('an account whose lanes have enough to send waits, but gets a turn within 250 ms', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  await subscribe(world, account, '2026-11-01');
  await addEvents(world, account, 3);
  world.behind.add(account.id);
  world.start();
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
  expect(world.behind.size).toBe(1);
});
