import { StoreUnavailableError } from '@deedwire/store';
import { expect, vi } from 'vitest';
import { shardCount } from '../../src/kernel/ids.ts';
import { type SeededAccount, seedAccount } from '../support/seed.ts';
import { closeAfterTest, test, waits } from './fan-out-world.ts';
import { hasDeliveries, interceptStore } from './faulty-store.ts';

test('in a shard of a dead worker, claims of entries are counted before they are rendered', async ({ world }) => {
  const account = await world.addAccount(2);
  const claims: number[] = [];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, _, values) {
      if (hasDeliveries(values)) claims.push(...(await world.claims()));
      return run();
    },
  });
  const fanOut = world.start({ store }, true);
  await vi.waitFor(() => expect(world.offered).toHaveLength(2), waits);
  expect(new Set(claims)).toEqual(new Set([1]));
  claims.length = 0;
  await world.addEvents(account, 1);
  fanOut.wake(null);
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
  expect(claims).toEqual([0]);
});

test('the claim of an entry is counted once, however often the outcome of its round is unknown', async ({ world }) => {
  await world.addAccount(1);
  const claims: number[] = [];
  const store = interceptStore(world.workerStore, {
    async 'fan-out-write-round'(run, _, values) {
      if (!hasDeliveries(values)) return run();
      claims.push(...(await world.claims()));
      if (claims.length <= 6) throw new StoreUnavailableError(new Error('The connection broke before the write.'));
      return run();
    },
  });
  world.start({ store }, true);
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  expect(new Set(claims)).toEqual(new Set([1]));
});

test('a shard of a dead worker recovers until the entries from before the takeover are fanned out', async ({
  world,
}) => {
  await world.addAccount(1);
  const release = Promise.withResolvers<void>();
  let isHeld = true;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run) {
      if (isHeld) await release.promise;
      return run();
    },
  });
  const fanOut = world.start({ store }, true);
  closeAfterTest(async () => release.resolve());
  const shards = Array.from({ length: shardCount }, (_, index) => index);
  expect(fanOut.recoveringIn(shards)).toEqual(shards);
  isHeld = false;
  release.resolve();
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  await vi.waitFor(() => expect(fanOut.recoveringIn(shards)).toEqual([]), waits);
});

test('claims of an entry with an unknown type or version are not counted while it waits', async ({ world }) => {
  const account = await seedAccount(world.store);
  await world.subscribe(account, 'any', 'unknown.type');
  await world.subscribe(account, 'unknown');
  await world.addEvents(account, 1, 'unknown.type');
  await world.addEvents(account, 1);
  for (let deaths = 0; deaths < 3; deaths += 1) {
    // The previous release read these entries after each takeover.
    await world.rows('update webhook_event_queue set blocked_on = null');
    const fanOut = world.start({}, true);
    await vi.waitFor(async () => expect(await world.countBlocked()).toBe(2), waits);
    await fanOut.stop();
  }
  const entries = await world.rows(
    'select takes, subscription_id is null as is_for_all from webhook_event_queue where event_id is not null order by position',
  );
  expect(entries).toEqual([
    { takes: 0, is_for_all: true },
    { takes: 0, is_for_all: false },
  ]);
});

test('an entry runs isolated after three claims, and fails after five', async ({ world }) => {
  const [suspected, given, other] = [
    await seedAccount(world.store),
    await seedAccount(world.store),
    await seedAccount(world.store),
  ];
  for (const account of [suspected, given, other]) {
    await world.subscribe(account, '2026-11-01');
    await world.addEvents(account, 2);
  }
  const setClaims = (account: SeededAccount, claims: number): Promise<object[]> =>
    world.rows(
      `update webhook_event_queue set takes = $2
       where position = (select min(position) from webhook_event_queue where account_id = $1 and event_id is not null)`,
      [account.id, claims],
    );
  await setClaims(suspected, 3);
  await setClaims(given, 5);
  world.start({}, true);
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await vi.waitFor(() => expect(world.offered).toHaveLength(5), waits);
  expect(world.ofKind('fanned-out').filter(({ round }) => round === 'isolated')).toMatchObject([
    { entries: 1 },
    { entries: 1 },
  ]);
  expect(world.ofKind('entry-given-up')).toMatchObject([{ claims: 5 }]);
  const failed = await world.rows<{ id: string; sequence: number }>(
    `select d.account_id as id, d.sequence::int from webhook_failed_delivery f join webhook_delivery d on d.id = f.delivery_id`,
  );
  expect(failed).toEqual([{ id: given.id, sequence: 1 }]);
});

test('after a failover that lost an event, the event that was queued at its position is delivered', async ({
  world,
}) => {
  const account = await world.addAccount(1);
  let isLost = false;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-events'(run) {
      if (isLost) return run();
      isLost = true;
      await world.addEvents(account, 1);
      await world.rows(`
        with lost as (
          delete from webhook_event_queue
          where position = (select min(position) from webhook_event_queue where event_id is not null)
          returning position, event_id
        ), event as (delete from webhook_event using lost where id = lost.event_id)
        update webhook_event_queue q set position = lost.position from lost
        where q.event_id is not null and q.event_id <> lost.event_id`);
      return run();
    },
  });
  world.start({ store });
  await vi.waitFor(() => expect(world.offered).toHaveLength(1), waits);
  expect(await world.rows('select event_id from webhook_delivery')).toEqual(
    await world.rows('select id as event_id from webhook_event'),
  );
  expect(world.ofKind('fan-out-stale')).not.toEqual([]);
});
