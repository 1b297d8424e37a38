import { createStore } from '@deedwire/store';
import { connect, type Connection, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FencedOutError, type WorkerId } from '../../src/fence/fence.ts';
import { ShardSharing } from '../../src/workers/shard-sharing.ts';
import { acquireShards, freeShardsOfDead, releaseShards } from '../../src/workers/sql/shard-rows.ts';
import {
  declareDead,
  deleteDeadWorkers,
  deleteWorker,
  insertWorker,
  markLeaving,
  renewLease,
  selectMembership,
  shortenLeases,
} from '../../src/workers/sql/worker-rows.ts';
import { pendingKey, seedPending } from '../support/seed-pending.ts';
import { createServiceDatabase } from '../support/seed.ts';

const hourMs = 3_600_000;

const register = (): Promise<WorkerId> =>
  store.transaction((transaction) => insertWorker(transaction, { name: 'test', leaseMs: hourMs, sendsMail: false }));
const expire = (id: WorkerId): Promise<unknown> =>
  superuser.run(`update webhook_worker set leased_until = now() - interval '1 second' where id = $1`, [id]);
const owners = async (): Promise<unknown[]> =>
  (
    await superuser.run('select worker_id, recovering, count(*)::int from webhook_shard group by 1, 2 order by 1, 2')
  ).map((row) => Object.values(row));
/** Whether the due time of each delivery was moved by 7 s or more. */
const postponed = async (): Promise<unknown[]> =>
  (
    await superuser.run(
      `select due_at >= occurred_at + interval '7 seconds' as moved from webhook_pending_delivery order by delivery_id`,
    )
  ).map(({ moved }) => moved);
const fence = `select from webhook_worker where id = $1 and alive for key share`;

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const store = await forFile(
  createStore({ databaseUrl: await database.urlFor('webhook_worker'), applicationName: 'test' }),
);

beforeEach(async () => {
  await superuser.run('update webhook_shard set worker_id = null, recovering = false');
  await superuser.run('truncate webhook_pending_delivery');
  await superuser.run('delete from webhook_worker');
});

test('reports and clears which shards recover', async () => {
  await superuser.run('update webhook_shard set recovering = true where shard = 1');
  const id = await register();

  expect(await acquireShards(store, id, 2)).toEqual([
    { shard: 0, isRecovering: false },
    { shard: 1, isRecovering: true },
  ]);
  expect(await owners()).toEqual([
    [id, false, 2],
    [null, false, 62],
  ]);
});

test('a worker that was declared dead writes nothing', async () => {
  const id = await register();
  await acquireShards(store, id, 2);
  await seedPending(superuser, 1);
  await expire(id);
  expect(await declareDead(store, [id])).toEqual([id]);

  expect(await renewLease(store, id, hourMs)).toBe(false);
  await expect(acquireShards(store, id, 1)).rejects.toThrow(FencedOutError);
  await expect(
    store.transaction((transaction) => releaseShards(transaction, id, [0, 1], [0], [pendingKey(1)])),
  ).rejects.toThrow(FencedOutError);

  expect(await owners()).toEqual([
    [id, false, 2],
    [null, false, 62],
  ]);
  expect(await postponed()).toEqual([false]);
});

test('declares only workers dead whose leases have expired', async () => {
  const [a, b] = [await register(), await register()];
  await expire(a);

  expect(await declareDead(store, [a, b])).toEqual([a]);
  expect((await selectMembership(store)).workers).toEqual([
    { id: b, isLeaving: false, isAhead: false, expiresInMs: expect.toSatisfy((ms: number) => ms > 0 && ms <= hourMs) },
  ]);
});

test('shortens a lease that is ahead of the clock, except that of an earlier release', async () => {
  const [ahead, earlier] = [await register(), await register()];
  await superuser.run(`update webhook_worker set leased_until = now() + interval '3 hours'`);
  await superuser.run('update webhook_worker set lease_ms = null where id = $1', [earlier]);
  const leases = async () => new Map((await selectMembership(store)).workers.map((worker) => [worker.id, worker]));
  expect((await leases()).get(ahead)).toMatchObject({ isAhead: true });
  expect((await leases()).get(earlier)).toMatchObject({ isAhead: false });
  await shortenLeases(store, [ahead]);
  expect((await leases()).get(ahead)).toMatchObject({ isAhead: false });
  // The stored time is rounded to milliseconds.
  expect((await leases()).get(ahead)?.expiresInMs).toBeLessThanOrEqual(hourMs + 1);
});

test('frees the shards of a dead worker after its last statement, as recovering', async () => {
  const dead = await register();
  await acquireShards(store, dead, 3);
  await expire(dead);
  const settling = await connect(database.databaseUrl);
  try {
    await settling.run('begin');
    await settling.run(fence, [dead]);
    await declareDead(store, [dead]);

    const freed = store.transaction(freeShardsOfDead);
    await untilBlocked(superuser);
    expect(await owners()).toContainEqual([dead, false, 3]);
    await settling.run('commit');

    expect((await freed).toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
    expect(await owners()).toEqual([
      [null, false, 61],
      [null, true, 3],
    ]);
  } finally {
    await settling.close();
  }
});

test('a statement that waits while its worker is declared dead writes nothing', async () => {
  const dead = await register();
  await expire(dead);
  const other = await connect(database.databaseUrl);
  try {
    await other.run('begin');
    await other.run('select from webhook_worker where id = $1 for update', [dead]);
    const acquired = acquireShards(store, dead, 1).catch((error: unknown) => error);
    await untilBlocked(superuser);
    await other.run('update webhook_worker set alive = false where id = $1', [dead]);
    await other.run('commit');

    expect(await acquired).toBeInstanceOf(FencedOutError);
    expect(await owners()).toEqual([[null, false, 64]]);
  } finally {
    await other.close();
  }
});

test('a release postpones a first attempt in flight by 7 s although it is due in an hour, since the clock was set back', async () => {
  const id = await register();
  await acquireShards(store, id, 64);
  await seedPending(superuser, 2);
  await superuser.run(`update webhook_pending_delivery set due_at = now() + interval '1 hour'`);
  await superuser.run('update webhook_pending_delivery set attempts = 1 where delivery_id = 2');
  await store.transaction((transaction) => releaseShards(transaction, id, [2], [], [pendingKey(1), pendingKey(2)]));
  const due = await superuser.run(
    `select due_at < now() + interval '8 seconds' as soon from webhook_pending_delivery order by delivery_id`,
  );
  expect(due).toEqual([{ soon: true }, { soon: false }]);
});

test('a release postpones each delivery in flight by its timeout and 2 s', async () => {
  const id = await register();
  await acquireShards(store, id, 64);
  await seedPending(superuser, 3);
  const inFlight = [pendingKey(1), pendingKey(2, 15_000)];
  await store.transaction((transaction) => releaseShards(transaction, id, [2], [], inFlight));
  const due = await superuser.run(
    `select round(extract(epoch from due_at - now()))::int as seconds from webhook_pending_delivery order by delivery_id`,
  );
  expect(due.map(({ seconds }) => seconds)).toEqual([7, 17, 0]);
});

describe('a release while a delivery in flight is locked', () => {
  let id: WorkerId;
  let locking: Connection;
  const inFlight = [pendingKey(1), pendingKey(2)];

  beforeEach(async () => {
    id = await register();
    await acquireShards(store, id, 64);
    await seedPending(superuser, 2);
    locking = await connect(database.databaseUrl);
    await locking.run('begin');
    await locking.run('delete from webhook_pending_delivery where delivery_id = 1');
  });

  afterEach(() => locking.close());

  test('waits until it is settled: the next owner would find it due', async () => {
    const released = store.transaction((transaction) => releaseShards(transaction, id, [0], [], inFlight));
    await untilBlocked(superuser);
    expect(await owners()).toEqual([[id, false, 64]]);
    await locking.run('commit');
    await released;
    expect(await owners()).toContainEqual([null, false, 1]);
    expect(await postponed()).toEqual([true]);
  });

  test('goes on without it after the lock timeout', async () => {
    const sharing = new ShardSharing(
      {
        store,
        onAcquired: async () => {},
        recoveringIn: () => [],
        onReleasing: async () => {},
        inFlight: () => inFlight,
        onEvent: () => {},
      },
      id,
    );
    await sharing.pass(true);
    expect(await owners()).toEqual([[null, false, 64]]);
    await locking.run('rollback');
    expect(await postponed()).toEqual([false, true]);
  });
});

test('a release of 2,000 deliveries in flight reads each once, and locks them in the order in which results do', async () => {
  const id = await register();
  await acquireShards(store, id, 64);
  await seedPending(superuser, 10_000);
  const inFlight = Array.from({ length: 2_000 }, (_, index) => pendingKey(index * 5 + 1));
  const planned: { name: string; text: string; values: readonly unknown[] }[] = [];
  const recorder = {
    query: async (statement: { name: string; text: string }, values: readonly unknown[]) => {
      planned.push({ ...statement, values });
      return [{ isAlive: true }];
    },
    notifyAfterCommit: () => {},
  };
  await releaseShards(recorder as never, id, [0], [], inFlight);

  const [{ text, values } = { text: '', values: [] }] = planned;
  const rows = await superuser.run(`explain (analyze, format json) ${text}`, values);
  const plan = JSON.stringify(rows);
  const removed = [...plan.matchAll(/"Rows Removed by (?:Join )?Filter":(\d+)/g)].map(([, count]) => Number(count));
  expect(plan).toMatch(/"LockRows".*?"Node Type":"Sort".*?"Sort Key":\["r\.subscription_id","r\.delivery_id"\]/);
  expect(Math.max(0, ...removed)).toBeLessThan(20_000);
});

test('a leaving worker stays alive, and is removed once it owns no shard', async () => {
  const id = await register();
  await acquireShards(store, id, 1);
  await store.transaction((transaction) => markLeaving(transaction, id));

  await deleteWorker(store, id);
  expect((await selectMembership(store)).workers).toMatchObject([{ id, isLeaving: true }]);
  await store.transaction((transaction) => releaseShards(transaction, id, [0], [], []));
  expect(await renewLease(store, id, hourMs)).toBe(true);
  await deleteWorker(store, id);
  expect((await selectMembership(store)).workers).toEqual([]);
});

test('removes dead workers after a day, unless they still own shards', async () => {
  const [recent, old, owner] = [await register(), await register(), await register()];
  await acquireShards(store, owner, 1);
  await superuser.run('update webhook_worker set alive = false');
  await superuser.run(`update webhook_worker set leased_until = now() - interval '25 hours' where id <> $1`, [recent]);

  await deleteDeadWorkers(store);

  const rows = await superuser.run('select id from webhook_worker order by id');
  expect(rows.map(({ id }) => id)).toEqual([recent, owner]);
  expect(rows.map(({ id }) => id)).not.toContain(old);
});
