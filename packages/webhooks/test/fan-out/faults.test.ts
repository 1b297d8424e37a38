import { createStore, LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { expect, test, vi } from 'vitest';
import { seedAccount, seedEvents, seedSubscription } from '../support/seed.ts';
import { closeAfterTest, FanOutWorld } from './fan-out-world.ts';
import { interceptStore } from './faulty-store.ts';

const waits = { timeout: 100_000, interval: 10 };
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

test('writes of unknown outcome leave no gap, lose no delivery and duplicate none', async () => {
  const world = await FanOutWorld.create();
  for (let index = 0; index < 6; index += 1) {
    const account = await seedAccount(world.store);
    await world.store.transaction(async (transaction) => {
      await seedSubscription(transaction, account);
      await seedSubscription(transaction, account);
      await seedEvents(transaction, account, 60);
    });
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

test('a write that commits after its connection was lost is detected, and its lanes are read', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  const subscriptionId = await world.store.transaction(async (transaction) => {
    const id = await seedSubscription(transaction, account);
    await seedEvents(transaction, account, 3);
    return id;
  });
  const other = createStore({ databaseUrl: world.databaseUrl, applicationName: 'lost-connection' });
  closeAfterTest(() => other.close());
  const secondAttempt = Promise.withResolvers<void>();
  let attempts = 0;
  let lost: Promise<unknown> = Promise.resolve();
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, statement, values) {
      attempts += 1;
      if (attempts > 1) {
        const rows = run();
        secondAttempt.resolve();
        return rows;
      }
      const executed = Promise.withResolvers<void>();
      lost = other.transaction(async (transaction) => {
        await transaction.query(statement, values);
        executed.resolve();
        await secondAttempt.promise;
      });
      await executed.promise;
      throw new StoreUnavailableError(new Error('The connection broke.'));
    },
  });
  world.start({ store });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await lost;
  expect(world.offered).toEqual([]);
  await vi.waitFor(() => expect(world.uncertain).toContainEqual({ subscriptionId, accountId: account.id }), waits);
  expect([...(await numbersBySubscription(world)).values()]).toEqual([{ sequences: upTo(3), numbers: upTo(3) }]);
});

test('locked rows delay their accounts only, and the others of a round wait for them once', async () => {
  const world = await FanOutWorld.create();
  const accounts: { id: string; subscriptionId: string }[] = [];
  for (let index = 0; index < 16; index += 1) {
    const account = await seedAccount(world.store);
    await world.store.transaction(async (transaction) => {
      accounts.push({ id: account.id, subscriptionId: await seedSubscription(transaction, account) });
      await seedEvents(transaction, account, 6);
    });
  }
  const locked = accounts.filter((_, index) => index % 2 === 0);
  const release = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const holding = world.store.transaction(async (transaction) => {
    const text = 'select 1 from webhook_subscription_sequence where subscription_id = any($1) for update';
    await transaction.query({ name: 'lock-sequences', text }, [locked.map(({ subscriptionId }) => subscriptionId)]);
    isLocked.resolve();
    await release.promise;
  });
  await isLocked.promise;
  const waited = { together: 0, alone: 0 };
  const store = interceptStore(world.workerStore, {
    'fan-out-write-round': (run, _, values) =>
      run().catch((error: unknown) => {
        // The seventh parameter has the subscriptions of the round.
        if (error instanceof LockTimeoutError) waited[String(values[6]).includes(',') ? 'together' : 'alone'] += 1;
        throw error;
      }),
  });
  world.start({ store });
  try {
    await vi.waitFor(() => expect(world.offered).toHaveLength(48), waits);
    // At first there are at most an express round and a bulk round. Then each locked account has rounds of its own.
    await vi.waitFor(() => expect(waited.alone).toBeGreaterThan(4), waits);
    expect(waited.together).toBeLessThanOrEqual(2);
  } finally {
    release.resolve();
    await holding;
  }
  expect(new Set(world.ofKind('fan-out-locked').map(({ account }) => account))).toEqual(
    new Set(locked.map(({ id }) => id)),
  );
  await vi.waitFor(() => expect(world.offered).toHaveLength(96), waits);
  expect(world.ofKind('entry-refused')).toEqual([]);
  for (const { sequences, numbers } of (await numbersBySubscription(world)).values()) {
    expect(sequences).toEqual(upTo(6));
    expect(numbers).toEqual(upTo(6));
  }
});

test('an entry that the database refuses is set aside, and all others are written', async () => {
  const world = await FanOutWorld.create();
  let refused = '';
  for (let index = 0; index < 5; index += 1) {
    const account = await seedAccount(world.store);
    await world.store.transaction(async (transaction) => {
      await seedSubscription(transaction, account);
      await seedEvents(transaction, account, 20);
    });
    refused = account.id;
  }
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

test('a set-aside entry is written once the database accepts it', async () => {
  const world = await FanOutWorld.create();
  const account = await seedAccount(world.store);
  await world.store.transaction(async (transaction) => {
    await seedSubscription(transaction, account);
    await seedEvents(transaction, account, 1);
  });
  await world.rows('alter table webhook_payload add constraint refused check (length(body) = 0)');
  world.start({ limits: { blockedMs: 60 } });
  await vi.waitFor(() => expect(world.ofKind('entry-refused').length).toBeGreaterThan(1), waits);
  await world.rows('alter table webhook_payload drop constraint refused');
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
});

test('reports that the database was unavailable while connections were prepared', async () => {
  const world = await FanOutWorld.create();
  const error = new StoreUnavailableError(new Error('The connection broke.'));
  const fanOut = world.start({ store: { ...world.workerStore, transaction: () => Promise.reject(error) } });
  await fanOut.prepare();
  expect(world.ofKind('fan-out-unavailable')).toEqual([{ kind: 'fan-out-unavailable', call: 'prepare', error }]);
});
