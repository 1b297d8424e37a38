import { createStore, type Store, StoreUnavailableError } from '@deedwire/store';
import { patientTimeouts } from '@deedwire/testing';
import { expect, vi } from 'vitest';
import { frequentEntriesMin } from '../../src/fan-out/accounts.ts';
import { shardOf } from '../../src/kernel/ids.ts';
import { type SeededAccount, seedEvents } from '../support/seed.ts';
import { closeAfterTest, type FanOutWorld, holdTransaction, test, waits } from './fan-out-world.ts';
import { hasDeliveries, interceptStore, isLook } from './faulty-store.ts';

/** No poll reads the queue during the test. */
const withoutPolls = { limits: { pollMs: 100_000_000 } };

/** Another store, for transactions that stay open. */
function openStore(world: FanOutWorld): Store {
  const store = createStore({ databaseUrl: world.databaseUrl, applicationName: 'writer', timeouts: patientTimeouts });
  closeAfterTest(() => store.close());
  return store;
}

/** Adds entries for the only event of the account. */
async function addEntries(world: FanOutWorld, account: SeededAccount, count: number): Promise<void> {
  await world.rows(
    `insert into webhook_event_queue (account_id, interface, event_id)
     select account_id, interface, id from webhook_event, generate_series(1, $2::int) where account_id = $1`,
    [account.id, count],
  );
}

test('finds an event whose transaction commits after one with a higher position', async ({ world }) => {
  const account = await world.addAccount();
  const fanOut = world.start(withoutPolls);
  const commit = await holdTransaction(openStore(world), (transaction) => seedEvents(transaction, account, 1));
  await world.deliver(fanOut, account);
  // Reads of other positions do not skip it.
  await world.deliver(fanOut, account);
  await commit();
  fanOut.wake([shardOf(account.id)]);
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
  expect(world.offered.map(({ sequence }) => sequence)).toEqual(['1', '2', '3']);
});

test('finds an event at a wake although its account has many, if it commits shortly after one with a higher position', async ({
  world,
}) => {
  const account = await world.addAccount();
  const fanOut = world.start(withoutPolls);
  for (let number = 1; number <= 2 * frequentEntriesMin; number += 1) await world.deliver(fanOut, account);
  const commit = await holdTransaction(openStore(world), (transaction) => seedEvents(transaction, account, 1));
  await world.deliver(fanOut, account);
  await commit();
  fanOut.wake([shardOf(account.id)]);
  await vi.waitFor(() => expect(world.offered).toHaveLength(2 * frequentEntriesMin + 2), waits);
});

/** Notes where the reads of the account begin, apart from those of its whole queue. */
function noteReads(world: FanOutWorld, account: SeededAccount) {
  const starts: { after: number; text: string; values: readonly unknown[] }[] = [];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run, { text }, values) {
      const [accounts = [], positions = []] = [values[1], values[2]].map((list) =>
        String(list).slice(1, -1).split(','),
      );
      const after = Number(positions[accounts.indexOf(account.id)] ?? 0);
      if (after > 0) starts.push({ after, text, values });
      return run();
    },
  });
  return { starts, store };
}

test('reads of an account with many events start near the tip, and a poll finds an event that commits long after', async ({
  world,
}) => {
  const account = await world.addAccount();
  const { starts, store } = noteReads(world, account);
  const fanOut = world.start({ store });
  const commitLate = await holdTransaction(openStore(world), (transaction) => seedEvents(transaction, account, 1));
  for (let number = 1; number <= 30; number += 1) await world.deliver(fanOut, account);
  await vi.waitFor(() => expect(starts.at(-1)?.after).toBeGreaterThan(20), waits);
  await commitLate();
  await vi.waitFor(() => expect(world.offered).toHaveLength(31), waits);
});

test('an event that commits long after is found although the look for it fails and waits, which delays no other', async ({
  world,
}) => {
  const account = await world.addAccount();
  await world.rows('delete from webhook_event_queue');
  const { starts, store } = noteReads(world, account);
  let looks = 0;
  const end = Promise.withResolvers<void>();
  const fanOut = world.start({
    store: interceptStore(store, {
      async 'fan-out-read-accounts'(run, _, values) {
        if (!isLook(values)) return run();
        looks += 1;
        if (looks <= 2) throw new StoreUnavailableError(new Error('canceling statement due to statement timeout'));
        await end.promise;
        return run();
      },
    }),
  });
  closeAfterTest(async () => end.resolve());
  const commitLate = await holdTransaction(openStore(world), (transaction) => seedEvents(transaction, account, 6));
  for (let number = 1; number <= 30; number += 1) await world.deliver(fanOut, account);
  await vi.waitFor(() => expect(starts.at(-1)?.after).toBeGreaterThan(20), waits);
  await vi.waitFor(() => expect(looks).toBeGreaterThan(2), waits);
  await commitLate();
  await world.deliver(fanOut, account);
  end.resolve();
  await vi.waitFor(() => expect(world.offered).toHaveLength(37), waits);
});

test('dead rows that an old snapshot keeps do not make reads expensive', async ({ world }) => {
  const account = await world.addAccount(1);
  const { starts, store } = noteReads(world, account);
  const readBuffers = async (replaced: Record<number, string> = {}): Promise<number> => {
    const { text = '', values = [] } = starts.at(-1) ?? {};
    const read = values.map((value, index) => replaced[index] ?? value);
    return (await world.explain((database) => database.query({ name: '', text }, read))).buffers;
  };
  const fanOut = world.start({ store, limits: { bulkDeliveries: 5_000 } });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  const endSnapshot = await holdTransaction(openStore(world), async (transaction) => {
    await transaction.query({ name: 'isolate', text: 'set transaction isolation level repeatable read' }, []);
    await transaction.query({ name: 'read', text: 'select 1 from webhook_event_queue' }, []);
  });
  try {
    await addEntries(world, account, 20_000);
    fanOut.wake([shardOf(account.id)]);
    await vi.waitFor(() => expect(world.offered).toHaveLength(20_001), waits);
    // Reads begin after the entries that were fanned out.
    await vi.waitFor(() => expect(starts.at(-1)?.after).toBeGreaterThan(20_000), waits);
    await fanOut.stop();
    const atTip = await readBuffers();
    // Two for each shard; before PostgreSQL 18 four.
    expect(atTip).toBeLessThan(300);
    expect(await readBuffers({ 2: String(starts.at(-1)?.values[2]).replaceAll(/,\d+/g, ',0') })).toBeGreaterThan(
      atTip + 200,
    );
  } finally {
    await endSnapshot();
  }
});

test('more than 5,000 accounts with backlogs do not hide the event of another account', async ({ world }) => {
  const quiet = await world.addAccount();
  await world.rows('delete from webhook_event_queue');
  await world.rows(`
    with account as (
      insert into account (interface, organization_id, name)
      select 'customer', (select id from organization limit 1), 'Test' from generate_series(1, 5200)
      returning id, interface
    )
    insert into webhook_event_queue (account_id, interface, event_id)
    select id, interface, 1 from account, generate_series(1, 5)`);
  const release = Promise.withResolvers<void>();
  let found = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run) {
      const rows = await run();
      found += rows.length;
      return rows;
    },
    async 'fan-out-read-accounts'(run) {
      await release.promise;
      return run();
    },
  });
  const fanOut = world.start({ store });
  closeAfterTest(async () => release.resolve());
  await vi.waitFor(() => expect(found).toBeGreaterThanOrEqual(5_200), waits);
  await world.addEvents(quiet, 1);
  fanOut.wake([shardOf(quiet.id)]);
  await vi.waitFor(() => expect(world.offered.map(({ accountId }) => accountId)).toEqual([quiet.id]), waits);
});

test.for<[string, string]>([
  ['absent', 'drop index webhook_event_queue_by_account'],
  ['not valid', `update pg_index set indisvalid = false where indexrelid = 'webhook_event_queue_by_account'::regclass`],
])('delivers events while the index of the queue is %s', async ([, spoil], { world }) => {
  await world.rows(spoil);
  const accounts = [await world.addAccount(), await world.addAccount()];
  for (const account of accounts) {
    await world.addEvents(account, 50);
  }
  const fanOut = world.start({ limits: { bulkDeliveries: 20 } });
  await vi.waitFor(() => expect(world.offered).toHaveLength(100), waits);
  for (const account of accounts) await world.addEvents(account, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(102), waits);
  expect(await world.isQueueEmpty()).toBe(true);
});

test('while all rounds of an account with 20,000 events wait, the event of another account is delivered', async ({
  world,
}) => {
  const [busy, quiet] = [await world.addAccount(), await world.addAccount()];
  // Deletes the changes of the new subscriptions, which a start reads anyway. An entry of the quiet account could get into
  // the held round.
  await world.rows('delete from webhook_event_queue');
  await world.addEvents(busy, 1);
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
  const fanOut = world.start({ store });
  closeAfterTest(async () => release.resolve());
  await vi.waitFor(() => expect(held).not.toEqual([]), waits);
  await world.addEvents(quiet, 1);
  fanOut.wake([shardOf(quiet.id)]);
  await vi.waitFor(() => expect(world.offered.map(({ accountId }) => accountId)).toEqual([quiet.id]), waits);
  expect(held).toHaveLength(1);
});

test('backlogs are fanned out in order, over many rounds, as they are stored, and no turn finds nothing', async ({
  world,
}) => {
  let empty = 0;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-accounts'(run, _, values) {
      const rows = await run();
      if (!isLook(values) && rows.some((row) => Object(row).entries === null)) empty += 1;
      return rows;
    },
  });
  const [first, second] = [await world.addAccount(), await world.addAccount()];
  await world.subscribe(first, '2026-11-01');
  for (const account of [first, second]) await world.addEvents(account, 600);
  world.start({ store, limits: { bulkDeliveries: 50 } });
  await vi.waitFor(() => expect(world.offered).toHaveLength(1_800), waits);
  const upTo600 = Array.from({ length: 600 }, (_, index) => index + 1);
  for (const deliveries of Map.groupBy(world.offered, ({ subscriptionId }) => subscriptionId).values()) {
    expect(deliveries.map(({ sequence }) => Number(sequence))).toEqual(upTo600);
    const numbers = deliveries.map(({ body }) => JSON.parse(Buffer.from(body).toString()).data.number);
    expect(numbers).toEqual(upTo600);
  }
  const stored = await world.rows(
    `select p.delivery_id as id, d.sequence, length(b.body) as bytes
     from webhook_pending_delivery p
     join webhook_delivery d on d.id = p.delivery_id and d.subscription_id = p.subscription_id and d.sequence = p.sequence
     join webhook_payload b on b.event_id = d.event_id and b.event_version = d.event_version and length(b.body) = p.body_bytes
     order by p.delivery_id`,
  );
  const offered = world.offered.map(({ deliveryId: id, sequence, body }) => ({ id, sequence, bytes: body.length }));
  expect(offered.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))).toEqual(stored);
  expect(empty).toBe(0);
});

test('a removed shard is not read again, and rounds in progress are written before', async ({ world }) => {
  const account = await world.addAccount(1);
  const writing = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, _, values) {
      if (!hasDeliveries(values)) return run();
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
  await world.addEvents(account, 1);
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
