import { createStore, LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { expect, vi } from 'vitest';
import { shardOf } from '../../src/kernel/ids.ts';
import type { SeededAccount } from '../support/seed.ts';
import { closeAfterTest, type FanOutWorld, holdTransaction, test, waits } from './fan-out-world.ts';
import { hasDeliveries, interceptStore } from './faulty-store.ts';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** The number of each delivered event, in the order of sequences, for each subscription. */
async function numbersBySubscription(
  world: FanOutWorld,
): Promise<Map<string, { sequences: number[]; numbers: number[] }>> {
  const rows = await world.rows<{ id: string; sequence: number; number: number }>(
    `select d.subscription_id as id, d.sequence::int, (e.snapshot ->> 'number')::int as number
     from webhook_delivery d join webhook_event e on e.id = d.event_id
     order by d.subscription_id, d.sequence`,
  );
  const bySubscription = new Map<string, { sequences: number[]; numbers: number[] }>();
  for (const { id, sequence, number } of rows) {
    const found = bySubscription.get(id) ?? { sequences: [], numbers: [] };
    found.sequences.push(sequence);
    found.numbers.push(number);
    bySubscription.set(id, found);
  }
  return bySubscription;
}

test('writes of unknown outcome leave no gap, lose no delivery and duplicate none', async ({ world }) => {
  for (let index = 0; index < 6; index += 1) {
    const account = await world.addAccount();
    await world.subscribe(account, '2026-11-01');
    await world.addEvents(account, 60);
  }
  let writes = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run) {
      writes += 1;
      if (writes % 3 === 1) throw new StoreUnavailableError(new Error('The connection broke before the write.'));
      const rows = await run();
      if (writes % 3 === 2) throw new StoreUnavailableError(new Error('The response was lost.'));
      return rows;
    },
  });
  world.start({ store, limits: { bulkDeliveries: 40, expressDeliveries: 8 } });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  const delivered = await numbersBySubscription(world);
  expect(delivered.size).toBe(12);
  for (const { sequences, numbers } of delivered.values()) {
    expect(sequences).toEqual(upTo(60));
    expect(numbers).toEqual(upTo(60));
  }
  const offered = new Set(world.offered.map(({ deliveryId }) => deliveryId as string));
  expect(offered.size).toBe(world.offered.length);
  // Deliveries of a write of unknown outcome are not offered: their lanes are read.
  await vi.waitFor(async () => {
    const uncertain = new Set(world.uncertain.map(({ subscriptionId }) => subscriptionId as string));
    const pending = await world.rows<{ id: string; lane: string }>(
      'select delivery_id as id, subscription_id as lane from webhook_pending_delivery',
    );
    expect(pending).toHaveLength(720);
    expect(pending.filter(({ id, lane }) => !offered.has(id) && !uncertain.has(lane))).toEqual([]);
  }, waits);
});

/** `inTime`: while its outcome is looked up. `late`: after it was found not to be executed. */
test.for(['inTime', 'late'])(
  'a write that commits after its connection was lost is detected: %s',
  async (when, { world }) => {
    const { id: accountId, subscriptionId } = await world.addAccount(3);
    const other = createStore({ databaseUrl: world.databaseUrl, applicationName: 'lost-connection' });
    closeAfterTest(() => other.close());
    const commit = Promise.withResolvers<void>();
    let lose: (() => Promise<unknown>) | null = null;
    let lost: Promise<unknown> = Promise.resolve();
    let lookups = 0;
    const store = interceptStore(world.workerStore, {
      async 'fan-out-are-gone'(run) {
        lookups += 1;
        const looking = run();
        if (when === 'inTime') commit.resolve();
        const rows = await looking;
        if (when === 'late' && lose !== null) lost = lose();
        await lost;
        return rows;
      },
      async 'fan-out-write-round'(run, statement, values) {
        if (!hasDeliveries(values) || lose !== null) return run();
        const executed = Promise.withResolvers<void>();
        lose = () =>
          other.transaction(async (transaction) => {
            await transaction.query(statement, values);
            executed.resolve();
            if (when === 'inTime') await commit.promise;
          });
        if (when === 'inTime') {
          lost = lose();
          await executed.promise;
        }
        throw new StoreUnavailableError(new Error('The connection broke.'));
      },
    });
    world.start({ store, limits: { pollMs: 100_000_000 } });
    await vi.waitFor(() => expect(world.uncertain).toContainEqual({ subscriptionId, accountId }), waits);
    expect(await world.isQueueEmpty()).toBe(true);
    expect(lookups).toBe(1);
    expect(world.offered).toEqual([]);
    expect([...(await numbersBySubscription(world)).values()]).toEqual([{ sequences: upTo(3), numbers: upTo(3) }]);
  },
);

/** Locks the sequences of the subscriptions of some accounts, until the returned function is called. */
const lockSequences = (world: FanOutWorld, accounts: readonly SeededAccount[]) =>
  holdTransaction(world.store, (transaction) => {
    const text = `select from webhook_subscription_sequence
      where subscription_id in (select id from webhook_subscription where account_id = any($1)) for update`;
    return transaction.query({ name: 'lock-sequences', text }, [accounts.map(({ id }) => id)]);
  });

async function seedQueued(world: FanOutWorld, count: number, events: number): Promise<SeededAccount[]> {
  const accounts: SeededAccount[] = [];
  for (let number = 0; number < count; number += 1) accounts.push(await world.addAccount(events));
  // Without the changes of the new subscriptions, the first read finds all events.
  await world.rows('delete from webhook_event_queue where event_id is null');
  return accounts;
}

test.for<[string, number]>([
  ['express', 3],
  ['bulk', 6],
])(
  'locked rows delay their accounts only, and the others of the %s round wait for them once',
  async ([, events], { world }) => {
    const accounts = await seedQueued(world, 16, events);
    const locked = accounts.filter((__, index) => index % 2 === 0);
    const unlock = await lockSequences(world, locked);
    let timeouts = 0;
    const store = interceptStore(world.workerStore, {
      'fan-out-write-round': (run) =>
        run().catch((error: unknown) => {
          if (error instanceof LockTimeoutError) timeouts += 1;
          throw error;
        }),
    });
    const fanOut = world.start({ store });
    try {
      await vi.waitFor(() => expect(world.offered).toHaveLength(8 * events), waits);
      // The accounts with a locked row are in no further round.
      const [other] = accounts.filter((account) => !locked.includes(account));
      if (other !== undefined) await world.addEvents(other, 1);
      fanOut.wake(null);
      await vi.waitFor(() => expect(world.offered).toHaveLength(8 * events + 1), waits);
      expect(timeouts).toBe(1);
    } finally {
      await unlock();
    }
    const found = world.ofKind('fan-out-locked').map(({ account }) => account);
    expect(found.toSorted()).toEqual(locked.map(({ id }) => id).toSorted());
    await vi.waitFor(() => expect(world.offered).toHaveLength(16 * events + 1), waits);
    expect(world.ofKind('entry-refused')).toEqual([]);
    for (const { sequences, numbers } of (await numbersBySubscription(world)).values()) {
      expect(sequences).toEqual(upTo(sequences.length));
      expect(numbers.slice(0, events)).toEqual(upTo(events));
    }
  },
);

test('however many accounts have a locked row, at most three rounds wait for locks, and others are delivered', async ({
  world,
}) => {
  const [quiet, ...accounts] = await seedQueued(world, 13, 0);
  const unlock = await lockSequences(world, accounts);
  let waiting = 0;
  let waitingMax = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run) {
      waiting += 1;
      waitingMax = Math.max(waitingMax, waiting);
      return run().finally(() => (waiting -= 1));
    },
  });
  const fanOut = world.start({ store });
  try {
    // Each arrives while rounds of others wait.
    for (const [index, account] of accounts.entries()) {
      await world.addEvents(account, index % 2 === 0 ? 1 : 8);
      fanOut.wake(null);
      await vi.waitFor(() => expect(waiting).toBeGreaterThan(0), waits);
    }
    if (quiet !== undefined) await world.addEvents(quiet, 1);
    fanOut.wake(null);
    await vi.waitFor(() => expect(world.offered.map(({ accountId }) => accountId)).toEqual([quiet?.id]), waits);
    await vi.waitFor(() => expect(world.ofKind('fan-out-locked')).toHaveLength(12), waits);
    expect(waitingMax).toBeLessThanOrEqual(3);
  } finally {
    await unlock();
  }
  await vi.waitFor(() => expect(world.offered).toHaveLength(1 + 6 * 1 + 6 * 8), waits);
});

test('a shard is removed once the outcome of its writes is known, and does not wait until rows are unlocked', async ({
  world,
}) => {
  const [lost, locked] = await seedQueued(world, 2, 1);
  if (lost === undefined || locked === undefined) throw new Error('Two accounts were not seeded.');
  const unlock = await lockSequences(world, [locked]);
  const [looking, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let writes = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run) {
      writes += 1;
      // The first write finds the locked row, so the second one is that of the other account.
      if (writes === 2) throw new StoreUnavailableError(new Error('The connection broke.'));
      return run();
    },
    async 'fan-out-are-gone'(run) {
      looking.resolve();
      await release.promise;
      return run();
    },
  });
  const fanOut = world.start({ store, limits: { pollMs: 100_000_000 } });
  closeAfterTest(async () => release.resolve());
  try {
    await looking.promise;
    await fanOut.removeShard(shardOf(locked.id));
    let isRemoved = false;
    const removing = fanOut.removeShard(shardOf(lost.id)).then(() => (isRemoved = true));
    await new Promise(setImmediate);
    expect(isRemoved).toBe(false);
    release.resolve();
    await removing;
  } finally {
    await unlock();
  }
  expect(await world.count('webhook_event_queue')).toBe(2);
  expect(world.offered).toEqual([]);
});

test('an entry that the database refuses is set aside, and all others are written', async ({ world }) => {
  for (let index = 0; index < 4; index += 1) await world.addAccount(20);
  const { id: refused } = await world.addAccount(20);
  const [event] = await world.rows<{ id: string }>(
    `select id from webhook_event where account_id = $1 and (snapshot ->> 'number')::int = 7`,
    [refused],
  );
  // No payload of this event can be stored.
  await world.rows(`alter table webhook_payload add constraint refused check (event_id <> ${event?.id})`);
  world.start();
  await vi.waitFor(async () => expect(await world.count('webhook_event_queue')).toBe(1), waits);
  await vi.waitFor(() => expect(world.offered).toHaveLength(99), waits);
  expect(world.ofKind('entry-refused')).toMatchObject([{ account: refused, event: event?.id }]);
  for (const { sequences, numbers } of (await numbersBySubscription(world)).values()) {
    expect(sequences).toEqual(upTo(sequences.length));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
});

test('a set-aside entry is written once the database accepts it', async ({ world }) => {
  await world.addAccount(1);
  await world.rows('alter table webhook_payload add constraint refused check (length(body) = 0)');
  world.start({ limits: { blockedMs: 60 } });
  await vi.waitFor(() => expect(world.ofKind('entry-refused').length).toBeGreaterThan(1), waits);
  await world.rows('alter table webhook_payload drop constraint refused');
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
});

test('reports that the database was unavailable while connections were prepared', async ({ world }) => {
  const error = new StoreUnavailableError(new Error('The connection broke.'));
  const fanOut = world.start({ store: { ...world.workerStore, transaction: () => Promise.reject(error) } });
  await fanOut.prepare();
  expect(world.ofKind('fan-out-unavailable')).toEqual([{ kind: 'fan-out-unavailable', call: 'prepare', error }]);
});
