import { backgroundTimeouts, StoreUnavailableError, type Store, type StoreOptions } from '@deedwire/store';
import { eventually, startTcpProxy, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, describe, expect, test } from 'vitest';
import { BatchedCalls } from '../../src/dispatch/batched-calls.ts';
import type { DispatchStorage, Settlement, SettleResults } from '../../src/dispatch/storage.ts';
import type { DeliveryId } from '../../src/kernel/ids.ts';
import { setTimer } from '../support/set-timer.ts';
import { createWorkerStore, failure, finalFailure, hold, holdAttempts, StorageWorld, success } from './support.ts';

const stores: Store[] = [];
const world = await forFile(StorageWorld.create());
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

function openStore(databaseUrl: string, options: Partial<StoreOptions> = {}): Store {
  const store = createWorkerStore(databaseUrl, options);
  stores.push(store);
  return store;
}

test('a settle whose response is lost is recorded once when it is repeated', async () => {
  const proxy = await startTcpProxy(await world.database.urlFor('webhook_worker'));
  const storage = world.storageOf(() => world.workerId, openStore(proxy.url));
  const { lane, deliveries } = await world.seedLane(4);
  const [a, b, c, d] = deliveries;
  const batch = [success(a), failure(b, 60_000), finalFailure(c), success(d)];
  const release = await holdAttempts(world.database.databaseUrl, [d]);
  const settling = storage.settle(batch).catch((error: unknown) => error);
  await untilBlocked(world.admin);
  await proxy.close();
  expect(await settling).toBeInstanceOf(StoreUnavailableError);
  // The server completes the statement, and its client is gone.
  await release();
  const recorded = { pending: 1, attempts: 4, failed: 1 };
  await eventually(async () => expect(await world.counts(lane)).toEqual(recorded));
  const before = await world.snapshot();
  expect(new Set((await world.storage.settle(batch)).values())).toEqual(new Set(['stale']));
  expect(await world.snapshot()).toEqual(before);
  expect(world.events).toEqual([]);
});

interface Outcomes {
  done: DeliveryId[];
  refused: DeliveryId[];
  calls: BatchedCalls<Settlement, SettleResults>;
}

function settleInBatches(storage: DispatchStorage): Outcomes {
  const outcomes: Outcomes = {
    done: [],
    refused: [],
    calls: new BatchedCalls<Settlement, SettleResults>({
      clock: { setTimer },
      collectMs: 1,
      itemsMax: 1_000,
      call: (batch) => storage.settle(batch),
      onDone: (batch) => void outcomes.done.push(...batch.map(({ delivery }) => delivery.deliveryId)),
      onRefused: ({ delivery }) => void outcomes.refused.push(delivery.deliveryId),
      onLocked: () => {},
      onUnavailable: () => {},
      onResumed: () => {},
    }),
  };
  return outcomes;
}

describe('a batch with one result that cannot be recorded', () => {
  test('is recorded without the result that the database refuses', async () => {
    const { lane, deliveries } = await world.seedLane<number>(50);
    const outcomes = settleInBatches(world.storage);
    // Exceeds the type of the column.
    const refused = deliveries[30]?.deliveryId;
    for (const delivery of deliveries) {
      outcomes.calls.add(success(delivery, delivery.deliveryId === refused ? { durationMs: 2 ** 31 } : {}));
    }
    await eventually(() => expect(outcomes.done).toHaveLength(49));
    await eventually(() => expect(outcomes.refused).toEqual([refused]));
    outcomes.calls.stop();
    expect(await world.counts(lane)).toEqual({ pending: 1, attempts: 49, failed: 0 });
  });

  test('is recorded without the pause of a subscription that an API has locked', async () => {
    const { lane: other, deliveries: others } = await world.seedLane(1);
    const { lane, deliveries } = await world.seedLane(1);
    const store = openStore(await world.database.urlFor('webhook_worker'), {
      timeouts: { ...backgroundTimeouts, lockMs: 100 },
    });
    const outcomes = settleInBatches(world.storageOf(() => world.workerId, store));
    const lock = 'select from webhook_subscription where id = $1 for no key update';
    const unlock = await hold(world.database.databaseUrl, lock, [lane]);
    outcomes.calls.add(failure(deliveries[0], 0, { pause: 'GONE' }));
    outcomes.calls.add(success(others[0]));
    await eventually(() => expect(outcomes.done).toEqual([others[0].deliveryId]));
    expect(await world.counts(lane)).toEqual({ pending: 1, attempts: 0, failed: 0 });
    expect(await world.counts(other)).toEqual({ pending: 0, attempts: 1, failed: 0 });
    await unlock();
    await eventually(() => expect(outcomes.done).toHaveLength(2));
    outcomes.calls.stop();
    expect((await world.storage.targets([lane])).size).toBe(0);
  });
});
