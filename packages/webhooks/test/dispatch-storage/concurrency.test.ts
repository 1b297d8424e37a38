import { untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import type { Settlement } from '../../src/dispatch/storage.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { settleConcurrently } from './settle-concurrently.ts';
import { failure, hold, holdAttempts, StorageWorld, success } from './support.ts';

const world = await forFile(StorageWorld.create());

const resultsOf = (results: ReadonlyMap<unknown, string>): string[] => [...results.values()];

const startTogether = async (
  delivery: PendingDelivery,
  [first, second]: readonly [Settlement, Settlement],
): Promise<string[]> => {
  const release = await holdAttempts(world.database.databaseUrl, [delivery]);
  const firstSettling = world.storage.settle([first]);
  await untilBlocked(world.admin, 1);
  expect(resultsOf(await world.storage.settle([second]))).toEqual(['locked']);
  await release();
  return [...resultsOf(await firstSettling), ...resultsOf(await world.storage.settle([second]))];
};

describe('two workers that settle the same delivery at the same time', () => {
  const later = { startedAt: new Date('2026-11-20T10:00:01Z') };

  test('record one of two failures', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    const [delivery] = deliveries;
    const results = await startTogether(delivery, [failure(delivery, 60_000), failure(delivery, 0)]);
    expect(results).toEqual(['settled', 'stale']);
    expect(await world.counts(lane)).toEqual({ pending: 1, attempts: 1, failed: 0 });
  });

  test('record a success and a failure, and the delivery is delivered', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    const [delivery] = deliveries;
    await startTogether(delivery, [failure(delivery, 0), success(delivery, later)]);
    const counts = await world.counts(lane);
    expect(counts).toMatchObject({ pending: 0, failed: 0 });
    const [{ successes } = { successes: null }] = await world.admin.run(
      'select count(*)::int as successes from webhook_attempt where delivery_id = $1 and response_status = 200',
      [delivery.deliveryId],
    );
    expect(successes).toBe(1);
  });

  test('record both successes', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    const [delivery] = deliveries;
    await startTogether(delivery, [success(delivery), success(delivery, later)]);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 2, failed: 0 });
  });
});

test('a late success waits for a failure that another worker is recording, and then counts', async () => {
  const { lane, deliveries } = await world.seedLane(2);
  const [delivery, other] = deliveries;
  // The second attempt is being recorded when the success of the first one arrives.
  await world.storage.settle([failure(delivery, 0)]);
  const retried = { ...delivery, attempts: 1 };
  const release = await holdAttempts(world.database.databaseUrl, [other]);
  const settling = world.storage.settle([failure(retried, 0), success(other)]);
  await untilBlocked(world.admin, 1);
  const late = world.storage.settle([success(delivery)]);
  await untilBlocked(world.admin, 2);
  await release();
  expect(resultsOf(await settling)).toEqual(['settled', 'settled']);
  expect(resultsOf(await late)).toEqual(['late']);
  expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 4, failed: 0 });
});

test('settling skips what another transaction has locked, and records the rest', async () => {
  const { lane, deliveries } = await world.seedLane(4);
  const [locked, free, failed, settled] = deliveries;
  await world.storage.settle([success(settled)]);
  const lock = 'select from webhook_pending_delivery where delivery_id = $1 for update';
  const unlock = await hold(world.database.databaseUrl, lock, [locked.deliveryId]);
  const batch = [success(locked), success(free), failure(failed, 5_000), failure(settled, 5_000)];
  expect(resultsOf(await world.storage.settle(batch))).toEqual(['locked', 'settled', 'settled', 'stale']);
  await unlock();
  expect(await world.counts(lane)).toEqual({ pending: 2, attempts: 3, failed: 0 });
  expect(resultsOf(await world.storage.settle([success(locked)]))).toEqual(['settled']);
});

// Two statements that lock in different orders deadlock within the first hundreds. `CALLS=10000` is a longer run.
test('calls of four settlers with the same deliveries in different orders do not deadlock', async () => {
  await expect(settleConcurrently(world, Number(process.env['CALLS'] ?? 1_000))).resolves.toBeUndefined();
});
