import { setTimeout as sleep } from 'node:timers/promises';
import { type Store, StoreUnavailableError } from '@deedwire/store';
import { expect, vi } from 'vitest';
import { seedAccount } from '../support/seed.ts';
import { test, waits } from './fan-out-world.ts';

/** A store that notes its statements. */
function noteCalls(store: Store, isNoted: (name: string) => boolean = () => true) {
  /** The statements of each moment in which the last one had ended. */
  const calls: string[][] = [];
  let running = 0;
  const noting: Store = {
    ...store,
    async query(statement, values) {
      if (!isNoted(statement.name)) return store.query(statement, values);
      if (running === 0) calls.push([]);
      calls.at(-1)?.push(statement.name);
      running += 1;
      try {
        return await store.query(statement, values);
      } finally {
        running -= 1;
      }
    },
  };
  return { calls, isIdle: () => running === 0, store: noting };
}

test('an event with an entry for each of its subscriptions is delivered to each, whatever its size', async ({
  world,
}) => {
  const account = await seedAccount(world.store);
  const subscriptions = [await world.subscribe(account, '2026-11-01'), await world.subscribe(account, '2026-11-01')];
  await world.addEvents(account, 1);
  await world.rows(
    `with entry as (
       delete from webhook_event_queue where event_id is not null returning account_id, interface, event_id
     )
     insert into webhook_event_queue (account_id, interface, event_id, subscription_id)
     select entry.*, id from entry, unnest($1::bigint[]) as id`,
    [subscriptions],
  );
  world.start({ limits: { roundBytes: 1 } });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  // The payload of the second entry is stored already, so its lane reads the delivery.
  await vi.waitFor(() => {
    const lanes = [...world.offered, ...world.uncertain].map(({ subscriptionId }) => subscriptionId);
    expect(lanes.toSorted()).toEqual(subscriptions.toSorted());
  }, waits);
});

test('a subscription that is created while fan-out runs receives the next event', async ({ world }) => {
  const account = await world.addAccount(1);
  const fanOut = world.start({ limits: { pinsMaxAgeMs: 100_000_000 } });
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  await world.subscribe(account, '2026-11-01');
  await world.addEvents(account, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
});

test('a change is applied before its entry is deleted, and again after it failed', async ({ world }) => {
  const account = await world.addAccount();
  const { subscriptionId } = account;
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

test('reports once that changes can be applied again', async ({ world }) => {
  await world.subscribe(await seedAccount(world.store), '2026-11-01');
  let calls = 0;
  world.start({
    async onSubscriptionChanged() {
      calls += 1;
      if (calls <= 2) throw new StoreUnavailableError(new Error('The connection broke.'));
    },
  });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await world.subscribe(await seedAccount(world.store), '2026-11-01');
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  expect(world.ofKind('fan-out-unavailable')).toHaveLength(2);
  expect(world.ofKind('loop-resumed')).toEqual([{ kind: 'loop-resumed', loop: 'change' }]);
});

test('a change is applied although earlier events of the account wait', async ({ world }) => {
  const account = await world.addAccount(300);
  const later = await world.subscribe(account, '2026-11-01');
  let offeredBefore = Infinity;
  world.start({
    limits: { bulkDeliveries: 10 },
    async onSubscriptionChanged({ subscriptionId }) {
      if (subscriptionId === later) offeredBefore = world.offered.length;
    },
  });
  await vi.waitFor(() => expect(world.offered).toHaveLength(300), waits);
  expect(offeredBefore).toBeLessThan(300);
});

test('at most 64 changes of an account are applied together', async ({ world }) => {
  await world.addAccount();
  await world.rows(
    `insert into webhook_event_queue (account_id, interface, subscription_id)
     select account_id, interface, number from webhook_subscription, generate_series(1, 150) number`,
  );
  let running = 0;
  let runningMax = 0;
  world.start({
    async onSubscriptionChanged(change) {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await new Promise(setImmediate);
      world.changes.push(change);
      running -= 1;
    },
  });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  expect(world.changes).toHaveLength(151);
  expect(runningMax).toBe(64);
});

test('deliveries of a paused subscription are stored and not offered', async ({ world }) => {
  const account = await world.addAccount();
  await world.rows(`update webhook_subscription set paused_reason = 'OWNER', paused_at = now()`);
  await world.addEvents(account, 1);
  const fanOut = world.start();
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await fanOut.stop();
  expect(await world.count('webhook_pending_delivery')).toBe(1);
  expect(world.offered).toEqual([]);
});

test('an event of an account without a backlog takes three statements', async ({ world }) => {
  const account = await world.addAccount(1);
  const { calls, isIdle, store } = noteCalls(world.workerStore);
  const fanOut = world.start({ store, limits: { pollMs: 100_000_000 } });
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  // The new subscription also has the blocked entries of its account examined, beside the first event.
  await vi.waitFor(() => expect(calls.flat()).toContain('fan-out-select-blocked-groups'), waits);
  // A read in progress would find the next event. A further statement starts as soon as one ends.
  do await sleep(50);
  while (!isIdle());
  calls.length = 0;
  await world.addEvents(account, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(2), waits);
  await fanOut.stop();
  expect(calls.flat()).toEqual(['fan-out-read-queue', 'fan-out-read-events', 'fan-out-write-round']);
});

test('the first event of an account waits for three calls in a row, and its target is read beside the last one', async ({
  world,
}) => {
  const account = await world.addAccount();
  const { subscriptionId } = account;
  const setUp = world.start();
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await setUp.stop();
  const { calls, isIdle, store } = noteCalls(world.workerStore, (name) => !name.includes('blocked'));
  const fanOut = world.start({
    store,
    expect: (lanes) => calls.at(-1)?.push(...lanes.map((lane) => `expect ${lane.subscriptionId}`)),
    limits: { pollMs: 100_000_000 },
  });
  // The first read finds nothing. If it found the event, the next one would run beside its round.
  await vi.waitFor(() => expect([calls.length > 0, isIdle()]).toEqual([true, true]), waits);
  await world.addEvents(account, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  await fanOut.stop();
  expect(calls.slice(-3)).toEqual([
    ['fan-out-read-queue'],
    ['read-pins', 'fan-out-read-events', `expect ${subscriptionId}`],
    ['fan-out-write-round'],
  ]);
});

test('an account whose lanes have enough to send waits, but gets a turn within 250 ms', async ({ world }) => {
  const account = await world.addAccount(3);
  world.behind.add(account.id);
  world.start();
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
  expect(world.behind.size).toBe(1);
});
