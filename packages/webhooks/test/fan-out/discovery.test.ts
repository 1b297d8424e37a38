import { createStore, type Store } from '@deedwire/store';
import { expect, test, vi } from 'vitest';
import { readQueue } from '../../src/fan-out/sql/queue.ts';
import { shardOf } from '../../src/kernel/shard.ts';
import { type SeededAccount, seedAccount, seedEvents, seedSubscription } from '../support/seed.ts';
import { closeAfterTest, FanOutWorld } from './fan-out-world.ts';
import { interceptStore } from './faulty-store.ts';

const waits = { timeout: 100_000, interval: 10 };

/** No poll reads the queue during the test. */
const withoutPolls = { limits: { pollMs: 100_000_000 } };

async function seedSubscribed(world: FanOutWorld): Promise<SeededAccount> {
  const account = await seedAccount(world.store);
  await world.store.transaction(async (transaction) => void (await seedSubscription(transaction, account)));
  return account;
}

/** Another store, for transactions that stay open. */
function openStore(world: FanOutWorld): Store {
  const store = createStore({ databaseUrl: world.databaseUrl, applicationName: 'writer' });
  closeAfterTest(() => store.close());
  return store;
}

/** Runs `work` in a transaction, and returns a function that commits it. */
async function holdTransaction(store: Store, work: Parameters<Store['transaction']>[0]): Promise<() => Promise<void>> {
  const worked = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const held = store.transaction(async (transaction) => {
    await work(transaction);
    worked.resolve();
    await commit.promise;
  });
  const end = async (): Promise<void> => {
    commit.resolve();
    await held;
  };
  closeAfterTest(end);
  await worked.promise;
  return end;
}

/** Adds entries for the only event of the account. */
async function addEntries(world: FanOutWorld, account: SeededAccount, count: number): Promise<void> {
  await world.rows(
    `insert into webhook_event_queue (account_id, interface, event_id)
     select account_id, interface, id from webhook_event, generate_series(1, $2::int) where account_id = $1`,
    [account.id, count],
  );
}

test('finds an event whose transaction commits after one with a higher position', async () => {
  const world = await FanOutWorld.create();
  const account = await seedSubscribed(world);
  const fanOut = world.start(withoutPolls);
  const commit = await holdTransaction(openStore(world), (transaction) => seedEvents(transaction, account, 1));
  await world.store.transaction((transaction) => seedEvents(transaction, account, 1));
  fanOut.wake([shardOf(account.id)]);
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  // Reads of other positions do not skip it.
  await world.store.transaction((transaction) => seedEvents(transaction, account, 1));
  fanOut.wake([shardOf(account.id)]);
  await vi.waitFor(() => expect(world.offered).toHaveLength(2), waits);
  await commit();
  fanOut.wake([shardOf(account.id)]);
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
  expect(world.offered.map(({ sequence }) => sequence)).toEqual(['1', '2', '3']);
});

test('while a transaction holds the watermark back, reads start near the tip, and a poll finds late commits', async () => {
  const world = await FanOutWorld.create();
  const account = await seedSubscribed(world);
  const writer = openStore(world);
  const endLong = await holdTransaction(writer, (transaction) =>
    transaction.query({ name: 'write', text: `update organization set name = 'long'` }, []),
  );
  const startsAfter: number[] = [];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run, _, [shards, positions]) {
      if (shards === `{${shardOf(account.id)}}`) startsAfter.push(Number(String(positions).slice(1, -1)));
      return run();
    },
  });
  const fanOut = world.start({ store, ...withoutPolls });
  const commitLate = await holdTransaction(writer, (transaction) => seedEvents(transaction, account, 1));
  for (let number = 1; number <= 30; number += 1) {
    await world.store.transaction((transaction) => seedEvents(transaction, account, 1));
    fanOut.wake([shardOf(account.id)]);
    await vi.waitFor(() => expect(world.offered).toHaveLength(number), waits);
  }
  expect(startsAfter.at(-1)).toBeGreaterThan(10);
  await commitLate();
  await fanOut.stop();
  await endLong();
  // A new owner starts from the beginning, as does a poll.
  world.start();
  await vi.waitFor(() => expect(world.offered).toHaveLength(31), waits);
});

test('dead rows that an old snapshot keeps do not make reads expensive', async () => {
  const world = await FanOutWorld.create();
  const account = await seedSubscribed(world);
  await world.store.transaction((transaction) => seedEvents(transaction, account, 1));
  const reader = openStore(world);
  const readBuffers = async (after: number): Promise<number> => {
    let buffers = 0;
    await readQueue(
      {
        async query({ text }, values) {
          const explained = { name: '', text: `explain (analyze, buffers, format json) ${text}` };
          const [row] = await world.workerStore.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
            explained,
            values,
          );
          const plan = row?.['QUERY PLAN'][0]?.Plan ?? {};
          buffers = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
          throw new Error('Explained only.');
        },
      },
      [{ shard: shardOf(account.id), after }],
      5_000,
    ).catch(() => {});
    return buffers;
  };
  let watermark = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run, _, [shards, positions]) {
      if (shards === `{${shardOf(account.id)}}`) watermark = Number(String(positions).slice(1, -1));
      return run();
    },
  });
  const fanOut = world.start({ store, ...withoutPolls, limits: { ...withoutPolls.limits, bulkDeliveries: 5_000 } });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  const before = await readBuffers(watermark);
  const endSnapshot = await holdTransaction(reader, async (transaction) => {
    await transaction.query({ name: 'isolate', text: 'set transaction isolation level repeatable read' }, []);
    await transaction.query({ name: 'read', text: 'select 1 from webhook_event_queue' }, []);
  });
  try {
    await addEntries(world, account, 20_000);
    fanOut.wake([shardOf(account.id)]);
    await vi.waitFor(() => expect(world.offered).toHaveLength(20_001), waits);
    // The watermark passes the entries that were read, because the old snapshot has written nothing.
    await vi.waitFor(async () => {
      fanOut.wake([shardOf(account.id)]);
      expect(await readBuffers(watermark)).toBeLessThanOrEqual(2 * before);
    }, waits);
    expect(await readBuffers(0)).toBeGreaterThan(4 * before);
  } finally {
    await endSnapshot();
  }
});

test('while all rounds of an account with 20,000 events wait, the event of another account is delivered', async () => {
  const world = await FanOutWorld.create();
  const [busy, quiet] = [await seedSubscribed(world), await seedSubscribed(world)];
  // Deletes the changes of the new subscriptions, which a start reads anyway. An entry of the quiet account could get into
  // the held round.
  await world.rows('delete from webhook_event_queue');
  await world.store.transaction((transaction) => seedEvents(transaction, busy, 1));
  await addEntries(world, busy, 19_999);
  const release = Promise.withResolvers<void>();
  const held: unknown[] = [];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-events'(run, _, [ids]) {
      const [event] = await world.rows<{ id: string }>('select id from webhook_event where account_id = $1', [busy.id]);
      if (event !== undefined && String(ids).includes(event.id)) {
        held.push(ids);
        await release.promise;
      }
      return run();
    },
  });
  const fanOut = world.start({ store, limits: { knownEntries: 2_000 } });
  closeAfterTest(async () => release.resolve());
  await vi.waitFor(() => expect(held).not.toEqual([]), waits);
  await world.store.transaction((transaction) => seedEvents(transaction, quiet, 1));
  fanOut.wake([shardOf(quiet.id)]);
  await vi.waitFor(() => expect(world.offered.map(({ accountId }) => accountId)).toEqual([quiet.id]), waits);
  expect(held).toHaveLength(1);
});

test('a backlog that does not fit into memory is fanned out in order', async () => {
  const world = await FanOutWorld.create();
  const accounts = [await seedSubscribed(world), await seedSubscribed(world)];
  for (const account of accounts) {
    await world.store.transaction((transaction) => seedEvents(transaction, account, 600));
  }
  world.start({ limits: { knownEntries: 128, entriesPerRead: 100, bulkDeliveries: 50 } });
  await vi.waitFor(() => expect(world.offered).toHaveLength(1_200), waits);
  for (const account of accounts) {
    const ofAccount = world.offered.filter(({ accountId }) => accountId === account.id);
    const numbers = ofAccount.map(({ body }) => JSON.parse(Buffer.from(body).toString()).data.number);
    expect(numbers).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
  }
});

test('a removed shard is not read again, and rounds in progress are written before', async () => {
  const world = await FanOutWorld.create();
  const account = await seedSubscribed(world);
  await world.store.transaction((transaction) => seedEvents(transaction, account, 1));
  const writing = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, _, values) {
      if (values[12] === '{}') return run();
      writing.resolve();
      await release.promise;
      return run();
    },
  });
  const fanOut = world.start({ store });
  closeAfterTest(async () => release.resolve());
  await writing.promise;
  let isRemoved = false;
  const removing = fanOut.removeShard(shardOf(account.id)).then(() => (isRemoved = true));
  await world.store.transaction((transaction) => seedEvents(transaction, account, 1));
  fanOut.wake([shardOf(account.id)]);
  expect(isRemoved).toBe(false);
  release.resolve();
  await removing;
  expect(await world.count('webhook_delivery')).toBe(1);
  fanOut.wake([shardOf(account.id)]);
  await fanOut.stop();
  expect(await world.count('webhook_event_queue')).toBe(1);
  expect(world.offered).toEqual([]);
});
