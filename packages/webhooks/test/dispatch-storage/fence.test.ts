import { StoreUnavailableError } from '@deedwire/store';
import { connect, patientTimeouts, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, test } from 'vitest';
import { noMarks } from '../../src/dispatch/lane-walk.ts';
import { insertLateSuccesses, recordLateSuccesses } from '../../src/dispatch/sql/late-successes.ts';
import { hastenSubscriptions, pauseSubscriptions } from '../../src/dispatch/sql/results.ts';
import { FencedOutError, type WorkerId } from '../../src/fence/fence.ts';
import { shardOf } from '../../src/kernel/ids.ts';
import { acquireShards, releaseShards } from '../../src/workers/sql/shard-rows.ts';
import { renewLease } from '../../src/workers/sql/worker-rows.ts';
import { createWorkerStore, failure, finalFailure, holdAttempts, StorageWorld, success } from './support.ts';

const world = await forFile(StorageWorld.create());

const laneState = {
  consecutiveFailures: 1,
  breakerOpenUntilMs: null,
  breakerProbes: 0,
  holdUntilMs: null,
  failingSinceMs: 0,
  lastFailureMs: 0,
  lastFailedDeliveryId: null,
};

describe.each(['that was declared dead', 'with an unknown id'])('a worker %s writes nothing', (kind) => {
  let workerId: WorkerId;
  beforeAll(async () => {
    workerId = await world.addWorker();
    if (kind === 'that was declared dead') return world.declareDead(workerId);
    await world.admin.run('update webhook_shard set worker_id = null where worker_id = $1', [workerId]);
    await world.admin.run('delete from webhook_worker where id = $1', [workerId]);
  });

  test('when it settles', async () => {
    const { deliveries } = await world.seedLane(4);
    const [a, b, c, d] = deliveries;
    const before = await world.snapshot();
    const storage = world.storageOf(() => workerId);
    const batch = [success(a), failure(b, 0, { laneState }), finalFailure(c), finalFailure(d, { attempt: null })];
    world.fencedOut = 0;
    expect(await storage.settle(batch)).toEqual(new Map());
    expect(world.fencedOut).toBe(1);
    expect(await world.snapshot()).toEqual(before);
  });

  test('and reads neither targets nor deliveries, so that it sends nothing', async () => {
    const { lane } = await world.seedLane(1);
    const storage = world.storageOf(() => workerId);
    await expect(storage.targets([lane])).rejects.toThrow(StoreUnavailableError);
    const options = { fromDueAtMs: -Infinity, limit: 1, bodyBytesMax: 1_000, exclude: [] };
    await expect(storage.refill(lane, options)).rejects.toThrow(StoreUnavailableError);
    const walk = { ...options, marks: noMarks, after: '0' };
    await expect(storage.walk(lane, walk)).rejects.toThrow(StoreUnavailableError);
  });

  test('when it pauses or hastens a subscription', async () => {
    const { deliveries } = await world.seedLane(2);
    await world.storage.settle([failure(deliveries[1], 0, { laneState })]);
    const before = await world.snapshot();
    const gone = failure(deliveries[0], 0, { pause: 'GONE', laneState });
    expect(await world.storageOf(() => workerId).settle([gone])).toEqual(new Map());
    await pauseSubscriptions(world.store, workerId, [gone]);
    await hastenSubscriptions(world.store, workerId, [gone]);
    expect(await world.snapshot()).toEqual(before);
  });

  test('when it counts claims', async () => {
    const { deliveries } = await world.seedLane(1);
    const before = await world.snapshot();
    await expect(world.storageOf(() => workerId).countClaims(deliveries)).rejects.toThrow(StoreUnavailableError);
    expect(await world.snapshot()).toEqual(before);
  });

  test('when it records a late success', async () => {
    const { deliveries } = await world.seedLane(3);
    await world.storage.settle([finalFailure(deliveries[0]), failure(deliveries[1], 0)]);
    const before = await world.snapshot();
    const successes = deliveries.map(({ subscriptionId, deliveryId }) => {
      const result = { durationMs: 1, responseStatus: 200, error: null, detail: null };
      return { subscriptionId, deliveryId, attempt: { number: 1, startedAt: new Date(), ...result } };
    });
    await expect(recordLateSuccesses(world.store, workerId, successes)).rejects.toThrow(FencedOutError);
    expect(await insertLateSuccesses(world.store, workerId, successes)).toEqual([]);
    expect(await world.snapshot()).toEqual(before);
  });
});

describe('a takeover', () => {
  test('waits for a settle and then sees its results', async () => {
    const workerId = await world.addWorker();
    const storage = world.storageOf(() => workerId);
    const { lane, deliveries } = await world.seedLane(2);
    // The settle waits for this attempt, inside its statement, with the worker row locked.
    const release = await holdAttempts(world.database.databaseUrl, [deliveries[1]]);
    const settling = storage.settle(deliveries.map((delivery) => success(delivery)));
    await untilBlocked(world.admin, 1);
    const takeover = await connect(world.database.databaseUrl);
    const takingOver = takeover.run('select from webhook_worker where id = $1 for update', [workerId]);
    await untilBlocked(world.admin, 2);
    await release();
    expect([...(await settling).values()]).toEqual(['settled', 'settled']);
    await takingOver;
    expect(await world.read(lane)).toEqual([]);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 2, failed: 0 });
    await takeover.close();
  });

  test('makes a settle that waits for it write nothing', async () => {
    const workerId = await world.addWorker();
    const storage = world.storageOf(() => workerId);
    const { lane, deliveries } = await world.seedLane(2);
    const takeover = await connect(world.database.databaseUrl);
    await takeover.run('begin');
    await takeover.run('select from webhook_worker where id = $1 for update', [workerId]);
    await takeover.run('update webhook_worker set alive = false where id = $1', [workerId]);
    const batch = deliveries.map((delivery) => success(delivery));
    const settling = storage.settle(batch);
    await untilBlocked(world.admin, 1);
    await takeover.run('commit');
    await takeover.close();
    expect(await settling).toEqual(new Map());
    expect(await world.counts(lane)).toEqual({ pending: 2, attempts: 0, failed: 0 });
  });

  test('lets the new owner settle the same deliveries', async () => {
    const first = await world.addWorker();
    const { deliveries, lane } = await world.seedLane(2);
    await world.declareDead(first);
    await world.storage.settle(deliveries.map((delivery) => success(delivery)));
    const late = world.storageOf(() => first).settle(deliveries.map((delivery) => success(delivery)));
    expect(await late).toEqual(new Map());
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 2, failed: 0 });
  });
});

test('a worker records the result of a delivery whose shard it has handed over', async () => {
  const [first, second] = [await world.addWorker(), await world.addWorker()];
  const { lane, deliveries } = await world.seedLane(1);
  const shard = shardOf(world.account.id);
  await world.admin.run('update webhook_shard set worker_id = $1 where shard = $2', [first, shard]);
  const inFlight = deliveries.map((delivery) => ({ ...delivery, timeoutMs: 5_000 }));
  await world.store.transaction((transaction) => releaseShards(transaction, first, [shard], [], inFlight));
  expect(await acquireShards(world.store, second, 1)).toEqual([{ shard, isRecovering: false }]);

  const results = await world.storageOf(() => first).settle([success(deliveries[0])]);
  expect([...results.values()]).toEqual(['settled']);
  expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 1, failed: 0 });
});

test('renewals do not wait for four settlers whose commits take 15 ms', async () => {
  await world.admin.run(
    `create function slow_commit() returns trigger language plpgsql as $$ begin perform pg_sleep(0.015); return null; end $$`,
  );
  // Runs at the commit, with the row of the worker locked.
  await world.admin.run(
    `create constraint trigger slow_commit after update on webhook_pending_delivery deferrable initially deferred
     for each row execute function slow_commit()`,
  );
  // Truncating the table would lock it for a moment.
  await world.admin.run('alter table webhook_worker set (autovacuum_enabled = false)');
  const workerId = await world.addWorker();
  const storage = world.storageOf(() => workerId);
  // A renewal that waits for a lock fails.
  const renewalStore = createWorkerStore(await world.database.urlFor('webhook_worker'), {
    timeouts: { ...patientTimeouts, lockMs: 1 },
  });
  let isEnding = false;
  let settles = 0;
  const settleForever = async (): Promise<void> => {
    const { deliveries } = await world.seedLane(1);
    for (let attempts = 0; !isEnding; attempts += 1) {
      const delivery = { ...deliveries[0], attempts };
      const results = await storage.settle([failure(delivery, 0, { laneState })]);
      expect([...results.values()]).toEqual(['settled']);
      settles += 1;
    }
  };
  const settling = Array.from({ length: 4 }, settleForever);
  try {
    for (let renewals = 0; renewals < 100 || settles < 40; renewals += 1) {
      expect(await renewLease(renewalStore, workerId, 15_000)).toBe(true);
    }
  } finally {
    isEnding = true;
    await Promise.all(settling);
    await renewalStore.close();
    await world.admin.run('drop function slow_commit cascade');
  }
});

test('the renewal of a lease neither waits for a settle nor delays one', async () => {
  const workerId = await world.addWorker();
  const storage = world.storageOf(() => workerId);
  const lanes = await Promise.all(Array.from({ length: 4 }, () => world.seedLane(2)));
  const held = lanes.map(({ deliveries }) => deliveries[1]);
  const release = await holdAttempts(world.database.databaseUrl, held);
  const settling = lanes.map(({ deliveries }) => storage.settle(deliveries.map((delivery) => success(delivery))));
  await untilBlocked(world.admin, 4);
  const [locks] = await world.admin.run(
    `select count(*)::int from pg_locks
     where database = (select oid from pg_database where datname = current_database())
       and relation = 'webhook_worker'::regclass and mode = 'RowShareLock'`,
  );
  expect(locks).toEqual({ count: 4 });
  // With four locks on the row, an update that had to wait would fail.
  await world.admin.run('begin');
  await world.admin.run('select from webhook_worker where id = $1 for no key update nowait', [workerId]);
  await world.admin.run(`update webhook_worker set leased_until = now() + interval '15 s' where id = $1`, [workerId]);
  // A settle that starts while the renewal is not committed does not wait for it either.
  const { deliveries } = await world.seedLane(1);
  expect([...(await storage.settle([success(deliveries[0])])).values()]).toEqual(['settled']);
  await world.admin.run('commit');
  await release();
  for (const results of await Promise.all(settling)) expect([...results.values()]).toEqual(['settled', 'settled']);
});
