import { type Database, StoreUnavailableError } from '@deedwire/store';
import { expect, vi } from 'vitest';
import {
  countBlocked,
  selectBlocked,
  selectBlockedGroups,
  unblockEntries,
} from '../../src/fan-out/sql/blocked-queue.ts';
import { readAccounts, readQueue } from '../../src/fan-out/sql/queue.ts';
import { type Shard, shardOf } from '../../src/kernel/ids.ts';
import { holdQueue, type SeededAccount, seedAccount } from '../support/seed.ts';
import { type FanOutWorld, laterRenderer, test, waits } from './fan-out-world.ts';
import { interceptStore } from './faulty-store.ts';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** The numbers of the events that were offered to an account, in order. */
const numbersOf = (world: FanOutWorld, { id }: SeededAccount): number[] =>
  world.offered
    .filter(({ accountId }) => accountId === id)
    .map(({ body }) => JSON.parse(Buffer.from(body).toString()).data.number);

/** An account whose events of an unknown type are in the queue, as an earlier build has blocked them. */
async function seedBlocked(world: FanOutWorld, count: number): Promise<SeededAccount> {
  const account = await seedAccount(world.store);
  await world.subscribe(account, 'any', 'unknown.type');
  await world.addEvents(account, count, 'unknown.type');
  await world.rows(
    `update webhook_event_queue set blocked_on = 'unknown.type' where account_id = $1 and event_id is not null`,
    [account.id],
  );
  return account;
}

test('blocked events that arrive gradually cost no further reads of the queue', async ({ world }) => {
  const [account, other] = [await seedAccount(world.store), await seedAccount(world.store)];
  await world.subscribe(account, 'any', 'unknown.type');
  await world.subscribe(other, '2026-11-01');
  const reads = { queue: 0, events: 0 };
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run) {
      reads.queue += 1;
      return run();
    },
    async 'fan-out-read-events'(run) {
      reads.events += 1;
      return run();
    },
  });
  const fanOut = world.start({ store, limits: { pollMs: 100_000_000 } });
  for (let queued = 5; queued <= 100; queued += 5) {
    await world.addEvents(account, 5, 'unknown.type');
    fanOut.wake([shardOf(account.id)]);
    await vi.waitFor(async () => expect(await world.countBlocked()).toBe(queued), waits);
  }
  expect(world.ofKind('entries-blocked')).toMatchObject([{ account: account.id, eventType: 'unknown.type' }]);
  await world.addEvents(other, 3);
  const before = { ...reads };
  fanOut.wake([shardOf(other.id)]);
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
  await fanOut.stop();
  expect(reads).toEqual({ queue: before.queue + 1, events: before.events + 1 });
});

test('a build that knows the type delivers blocked events in order, in several rounds', async ({ world }) => {
  const account = await seedBlocked(world, 300);
  const other = await world.addAccount(3);
  world.start({ render: laterRenderer, limits: { unblockedTogether: 40, bulkDeliveries: 50 } });
  await vi.waitFor(() => expect(numbersOf(world, other)).toEqual(upTo(3)), waits);
  await vi.waitFor(() => expect(numbersOf(world, account)).toEqual(upTo(300)), waits);
  await vi.waitFor(
    () => expect(world.ofKind('entries-unblocked')).toMatchObject([{ account: account.id, count: 300 }]),
    waits,
  );
});

test('entries are read again after an unblocking of unknown outcome', async ({ world }) => {
  const account = await seedBlocked(world, 30);
  let calls = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-unblock'(run) {
      calls += 1;
      if (calls % 3 === 1) throw new StoreUnavailableError(new Error('The connection broke before the write.'));
      const rows = await run();
      if (calls % 3 === 2) throw new StoreUnavailableError(new Error('The response was lost.'));
      return rows;
    },
  });
  world.start({ store, render: laterRenderer, limits: { unblockedTogether: 10 } });
  await vi.waitFor(() => expect(numbersOf(world, account).toSorted((a, b) => a - b)).toEqual(upTo(30)), waits);
  expect(calls).toBeGreaterThan(2);
});

test('a shard is released after the unblocking in progress has ended, and its next owner delivers the entries', async ({
  world,
}) => {
  const account = await seedBlocked(world, 3);
  const [unblocking, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-unblock'(run) {
      unblocking.resolve();
      await release.promise;
      return run();
    },
  });
  const fanOut = world.start({ store, render: laterRenderer });
  await unblocking.promise;
  let isRemoved = false;
  const removing = fanOut.removeShard(shardOf(account.id)).then(() => (isRemoved = true));
  await new Promise(setImmediate);
  expect(isRemoved).toBe(false);
  release.resolve();
  await removing;
  expect(await world.countBlocked()).toBe(0);
  await fanOut.stop();
  expect(world.offered).toEqual([]);
  world.start({ render: laterRenderer });
  await vi.waitFor(() => expect(numbersOf(world, account)).toEqual(upTo(3)), waits);
});

test('an unknown type is blocked while a subscription pins it, and delays no other event', async ({ world }) => {
  const account = await seedAccount(world.store);
  await world.subscribe(account, 'any', 'unknown.type');
  const known = await world.subscribe(account, '2026-11-01');
  await world.addEvents(account, 2, 'unknown.type');
  await world.addEvents(account, 1);
  const fanOut = world.start({ limits: { blockedMs: 60, blockedCountMs: 20, pinsMaxAgeMs: 20 } });
  await vi.waitFor(() => expect(world.offered.map(({ subscriptionId }) => subscriptionId)).toEqual([known]), waits);
  await vi.waitFor(() => expect(fanOut.blocked).toBe(2), waits);
  // Without a notification: the entries are examined again after a while.
  await world.rows(`delete from webhook_subscription_event_type where event_type = 'unknown.type'`);
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await vi.waitFor(() => expect(fanOut.blocked).toBe(0), waits);
});

/** Adds 20,000 entries. Statistics are those of a nearly empty queue, as they often are in operation. */
async function fillQueue(world: FanOutWorld, columns: { subscriptionId: string; blockedOn: string | null }) {
  await world.rows('delete from webhook_event_queue where event_id is null');
  await world.rows('vacuum analyze webhook_event_queue');
  await world.rows(
    `insert into webhook_event_queue (account_id, interface, event_id, subscription_id, blocked_on)
     select account_id, interface, id, case when number % 2 = 0 then $1::bigint end, $2
     from webhook_event, generate_series(1, 20000) number`,
    [columns.subscriptionId, columns.blockedOn],
  );
}

/** After a rollback, its workers read the queue beside blocked entries. */
const readQueueOfLastRelease = (shard: Shard) => (database: Database) =>
  database.query(
    {
      name: 'fan-out-read-queue',
      text: `
        select position, account_id, event_id, subscription_id, takes
        from unnest($1::smallint[], $2::bigint[]) as read (shard, after)
        cross join lateral (
          select position, account_id, event_id, subscription_id, takes
          from webhook_event_queue
          where shard = read.shard and position > read.after and blocked_on is null
          order by position
          limit $3
        ) first`,
    },
    [`{${shard}}`, '{0}', 5_000],
  );

test('statements visit no other blocked entries', async ({ world }) => {
  const account = await seedBlocked(world, 1);
  const subscriptionId = await world.subscribe(account, 'unknown');
  await fillQueue(world, { subscriptionId, blockedOn: 'unknown.type' });
  await world.addEvents(account, 1);

  const shard = shardOf(account.id);
  for (const run of [
    (database: Database) => readQueue(database, [{ shard, skips: [] }], 512, 5),
    (database: Database) => readAccounts(database, [{ id: account.id, shard, after: 0, entriesMax: 100 }]),
    readQueueOfLastRelease(shard),
  ]) {
    const queue = await world.explain(run);
    expect(queue.rowsMax).toBeLessThanOrEqual(3);
    expect(queue.removedMax).toBe(0);
    expect(queue.buffers).toBeLessThan(20);
  }
  const groups = await world.explain((database) => selectBlockedGroups(database, shard, null, null, 100));
  expect(groups.rowsMax).toBeLessThan(10);
  expect(groups.removedMax).toBe(0);
  const group = { accountId: account.id, blockedOn: 'unknown.type', subscriptionId: null };
  const bySubscription = [group, { ...group, subscriptionId }];
  const selection = await world.explain((database) =>
    selectBlocked(database, shard, account.id, bySubscription, 100, 100),
  );
  expect(selection.rowsMax).toBeLessThanOrEqual(200);
  expect(selection.removedMax).toBe(0);
  const positions = await selectBlocked(world.workerStore, shard, account.id, bySubscription, 0, 100);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expect(positions).toHaveLength(100);
  const unblocking = await world.explain((database) => unblockEntries(database, world.workerId, account.id, positions));
  expect(unblocking.rowsMax).toBeLessThanOrEqual(100);
  expect(unblocking.removedMax).toBe(0);
});

test('statements visit no entries that are not blocked', async ({ world }) => {
  const account = await seedBlocked(world, 1);
  const subscriptionId = await world.subscribe(account, 'unknown');
  await fillQueue(world, { subscriptionId, blockedOn: null });
  const shard = shardOf(account.id);
  const group = { accountId: account.id, blockedOn: 'unknown.type', subscriptionId: null };
  for (const run of [
    (database: Database) => countBlocked(database, [shard], 1_000),
    (database: Database) => selectBlockedGroups(database, shard, null, null, 100),
    (database: Database) => selectBlocked(database, shard, account.id, [group], 0, 100),
  ]) {
    const { rowsMax, removedMax, buffers } = await world.explain(run);
    expect(rowsMax).toBeLessThan(5);
    expect(removedMax).toBe(0);
    expect(buffers).toBeLessThan(20);
  }
});

test('an entry is not refused if its account is frozen while it is put off', async ({ world }) => {
  const account = await world.addAccount();
  await world.subscribe(account, 'unknown');
  await world.addEvents(account, 1);
  const freezeMeanwhile = await holdQueue(world.store);
  world.start();
  await freezeMeanwhile(account);
  await world.rows('delete from account_home');
  await vi.waitFor(() => expect(numbersOf(world, account)).toEqual([1]), waits);
  expect(world.ofKind('entry-refused')).toEqual([]);
});
