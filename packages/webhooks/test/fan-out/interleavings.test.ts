import { StoreUnavailableError } from '@deedwire/store';
import { expect, vi } from 'vitest';
import { shardOf } from '../../src/kernel/ids.ts';
import { type SeededAccount, seedAccount, seedEvents } from '../support/seed.ts';
import { closeAfterTest, type FanOutWorld, holdTransaction, test, waits } from './fan-out-world.ts';
import { hasDeliveries, interceptStore, isLook } from './faulty-store.ts';

/** No poll hides what a wake misses. */
const noPolls = { pollMs: 100_000_000 };

/** An account with a subscription, whose change is not in the queue. */
async function subscribed(world: FanOutWorld): Promise<SeededAccount> {
  const account = await world.addAccount();
  await world.rows('delete from webhook_event_queue');
  return account;
}

test('more events than an express round takes, committed below the position of a busy account, are written', async ({
  world,
}) => {
  const account = await subscribed(world);
  const end = Promise.withResolvers<void>();
  const store = interceptStore(world.workerStore, {
    // Does not help: while an old snapshot is held, it may not end.
    async 'fan-out-read-accounts'(run, _, values) {
      if (isLook(values)) await end.promise;
      return run();
    },
  });
  const fanOut = world.start({ store, limits: noPolls });
  closeAfterTest(async () => end.resolve());
  const commit = await holdTransaction(world.store, (transaction) => seedEvents(transaction, account, 6));
  for (let number = 1; number <= 20; number += 1) await world.deliver(fanOut, account);
  await commit();
  fanOut.wake([shardOf(account.id)]);
  await vi.waitFor(() => expect(world.offered).toHaveLength(26), waits);
});

/** A write that commits, and whose response is lost; `look` lets fan-out find out. */
async function startWithLostResponse(world: FanOutWorld) {
  const account = await subscribed(world);
  await world.addEvents(account, 3);
  const [writing, fail] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [looking, look] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, _, values) {
      if (!hasDeliveries(values)) return run();
      await run();
      writing.resolve();
      await fail.promise;
      throw new StoreUnavailableError(new Error('The response was lost.'));
    },
    async 'fan-out-are-gone'(run) {
      looking.resolve();
      await look.promise;
      return run();
    },
  });
  const fanOut = world.start({ store, limits: noPolls });
  closeAfterTest(async () => [fail, look].forEach(({ resolve }) => resolve()));
  await writing.promise;
  return { account, fanOut, fail: fail.resolve, looking: looking.promise, look: look.resolve };
}

test('a shard that is removed while a round writes waits until the outcome of the write is known', async ({
  world,
}) => {
  const { account, fanOut, fail, looking, look } = await startWithLostResponse(world);
  let isRemoved = false;
  const removing = fanOut.removeShard(shardOf(account.id)).then(() => (isRemoved = true));
  fail();
  await looking;
  await new Promise(setImmediate);
  expect(isRemoved).toBe(false);
  look();
  await removing;
  expect(world.uncertain).toEqual([]);
});

test('a write whose outcome becomes known after another worker took over opens no lane', async ({ world }) => {
  const { fanOut, fail, looking, look } = await startWithLostResponse(world);
  fail();
  await looking;
  fanOut.removeAllShards();
  look();
  await fanOut.stop();
  expect(world.uncertain).toEqual([]);
});

test('a change that is read while its shard is removed is left to the next owner', async ({ world }) => {
  const account = await subscribed(world);
  await world.addEvents(account, 20);
  const [reading, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let reads = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run) {
      const rows = await run();
      // The change commits between the read of the queue and that of the account.
      reads += 1;
      if (reads === 1) await world.subscribe(account, '2026-11-01');
      return rows;
    },
    async 'fan-out-read-accounts'(run) {
      const rows = await run();
      reading.resolve();
      await read.promise;
      return rows;
    },
  });
  const onSubscriptionChanged = vi.fn<() => Promise<void>>().mockResolvedValue();
  const fanOut = world.start({ store, limits: noPolls, onSubscriptionChanged });
  await reading.promise;
  const removing = fanOut.removeShard(shardOf(account.id));
  read.resolve();
  await removing;
  await fanOut.stop();
  expect(onSubscriptionChanged).not.toHaveBeenCalled();
  expect(await world.count('webhook_event_queue where event_id is null')).toBe(1);
});

test('a change that cannot be applied is not tried again at once', async ({ world }) => {
  const account = await seedAccount(world.store);
  const examined = Promise.withResolvers<void>();
  const store = interceptStore(world.workerStore, {
    async 'fan-out-count-blocked'(run, _, [shards]) {
      const rows = await run();
      if (new Set(String(shards).match(/\d+/g)).has(String(shardOf(account.id)))) examined.resolve();
      return rows;
    },
  });
  const onSubscriptionChanged = vi.fn<() => Promise<void>>().mockRejectedValue(new Error('It cannot be applied.'));
  const fanOut = world.start({ store, limits: noPolls, onSubscriptionChanged });
  // What is blocked when a shard is acquired is examined once, and its changes are then tried again.
  await examined.promise;
  await world.subscribe(account, '2026-11-01');
  fanOut.wake([shardOf(account.id)]);
  await vi.waitFor(async () => expect(await world.countBlocked()).toBe(1), waits);
  // A second read finds nothing to do.
  fanOut.wake([shardOf(account.id)]);
  const other = await seedAccount(world.store);
  await world.addEvents(other, 1);
  fanOut.wake([shardOf(other.id)]);
  await vi.waitFor(async () => expect(await world.count('webhook_event_queue')).toBe(1), waits);
  expect(onSubscriptionChanged).toHaveBeenCalledOnce();
});

test('the lanes of a write that is executed late are read before later deliveries are offered', async ({ world }) => {
  const account = await subscribed(world);
  await world.addEvents(account, 3);
  const calls: string[] = [];
  let write: (() => Promise<unknown>) | null = null;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, _, values) {
      if (write !== null || !hasDeliveries(values)) return run();
      write = run;
      throw new StoreUnavailableError(new Error('The connection broke.'));
    },
    async 'fan-out-are-gone'(run) {
      const rows = await run();
      await write?.();
      await world.addEvents(account, 1);
      return rows;
    },
  });
  world.start({
    store,
    limits: noPolls,
    offer: (deliveries) => void calls.push(`offer ${deliveries.map(({ sequence }) => sequence).join()}`),
    onUncertain: () => void calls.push('read'),
  });
  await vi.waitFor(() => expect(calls).toContain('offer 4'), waits);
  expect(calls[0]).toBe('read');
});

test('while the outcomes of writes are unknown, few further rounds are written', async ({ world }) => {
  const accounts: SeededAccount[] = [];
  for (let number = 1; number <= 8; number += 1) accounts.push(await subscribed(world));
  for (const account of accounts) await world.addEvents(account, 20);
  let [writes, looks] = [0, 0];
  const lost = new StoreUnavailableError(new Error('The connection broke.'));
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, _, values) {
      if (!hasDeliveries(values)) return run();
      writes += 1;
      throw lost;
    },
    async 'fan-out-are-gone'() {
      looks += 1;
      throw lost;
    },
  });
  world.start({ store, limits: { bulkDeliveries: 8 } });
  await vi.waitFor(() => expect(looks).toBeGreaterThan(8), waits);
  expect(writes).toBe(2);
});

test('an event is not rendered without a counted claim because its shard is removed meanwhile', async ({ world }) => {
  const account = await subscribed(world);
  await world.addEvents(account, 1);
  const [reading, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-events'(run) {
      reading.resolve();
      await read.promise;
      return run();
    },
  });
  const fanOut = world.start({ store, limits: noPolls }, true);
  await reading.promise;
  const removing = fanOut.removeShard(shardOf(account.id));
  read.resolve();
  await removing;
  expect(await world.rows('select takes, blocked_on from webhook_event_queue')).toEqual([
    { takes: 0, blocked_on: null },
  ]);
});

test('the position of an account that has few events is forgotten, even without polls', async ({ world }) => {
  const account = await subscribed(world);
  const skipped: unknown[] = [];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run, _, [, accounts]) {
      skipped.push(accounts);
      return run();
    },
  });
  const fanOut = world.start({ store, limits: { ...noPolls, countMs: 1_000 } });
  for (let number = 1; number <= 20; number += 1) await world.deliver(fanOut, account);
  const lastRead = (): unknown => {
    fanOut.wake([shardOf(account.id)]);
    return skipped.at(-1);
  };
  await vi.waitFor(() => expect(lastRead()).toBe('{0}'), waits);
});
