import type { Database } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { cleanLaneState } from '../../src/dispatch/lane-state.ts';
import { selectLanesOfShard, selectTargets } from '../../src/dispatch/sql/lanes.ts';
import { insertLateSuccesses, type LateSuccess, lockLateDeliveries } from '../../src/dispatch/sql/late-successes.ts';
import {
  countClaims,
  laneStart,
  lockPendingDeliveries,
  selectPayloads,
  selectPendingDeliveries,
  walkLane,
} from '../../src/dispatch/sql/pending-deliveries.ts';
import { hastenSubscriptions, pauseSubscriptions, settle } from '../../src/dispatch/sql/results.ts';
import type { Settlement } from '../../src/dispatch/storage.ts';
import { type DeliveryId, type EventId, type SubscriptionId, shardOf } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { deletePendingOfDeleted, selectPendingOfDeleted } from '../../src/subscriptions/deleted-backlogs.ts';
import { explain } from './explain.ts';
import { failure, finalFailure, StorageWorld, success } from './support.ts';

const world = await forFile(StorageWorld.create());
const dominant = await world.addLane();
const small = [];
for (let lane = 0; lane < 200; lane += 1) small.push(await world.addLane());
for (const lane of small) await world.addDeliveries(lane, 5);
await world.addDeliveries(dominant, 20_000);
for (const lane of small) await world.addDeliveries(lane, 5);
await world.admin.run('analyze');
/** The deliveries of 200 lanes, 10 each. Between the first and the last of their ids are 20,000 of another lane. */
const batch: PendingDelivery[] = [];
for (const lane of small) batch.push(...(await world.read(lane)));

const late = ({ subscriptionId, deliveryId }: PendingDelivery): LateSuccess => ({
  subscriptionId,
  deliveryId,
  attempt: { number: 1, startedAt: new Date(), durationMs: 1, responseStatus: 200, error: null, detail: null },
});

/** One result of each lane contains a state. */
function failuresWithStates(): Settlement[] {
  const lanes = new Set<SubscriptionId>();
  return batch.map((delivery) => {
    const laneState = lanes.has(delivery.subscriptionId) ? null : cleanLaneState;
    lanes.add(delivery.subscriptionId);
    return failure(delivery, 5_000, { laneState });
  });
}

const successes = batch.map((delivery) => success(delivery));
const finalFailures = batch.map((delivery) => finalFailure(delivery));

const statements: [name: string, run: (database: Database) => Promise<unknown>][] = [
  ['settle, successes', (database) => settle(database, world.workerId, successes)],
  ['settle, failures', (database) => settle(database, world.workerId, failuresWithStates())],
  ['settle, final', (database) => settle(database, world.workerId, finalFailures)],
  ['countClaims', (database) => countClaims(database, world.workerId, batch)],
  ['lockLateDeliveries', (database) => lockLateDeliveries(database, world.workerId, idsOf(batch))],
  ['insertLateSuccesses', (database) => insertLateSuccesses(database, world.workerId, batch.map(late))],
  ['pauseSubscriptions', (database) => pauseSubscriptions(database, world.workerId, [gone()])],
  ['hastenSubscriptions', (database) => hastenSubscriptions(database, world.workerId, [gone()])],
  ['lockPendingDeliveries', (database) => lockPendingDeliveries(database, batch)],
];

const gone = (): Settlement => {
  const [delivery] = batch;
  if (delivery === undefined) throw new Error('The batch is empty.');
  return failure(delivery, 0, { pause: 'GONE' });
};

const idsOf = (deliveries: readonly PendingDelivery[]): DeliveryId[] => deliveries.map(({ deliveryId }) => deliveryId);

test.each(statements)('%s locks rows, and with 2,000 deliveries reads rows in proportion', async (_, run) => {
  const plan = await explain(world.admin, run);
  // Those that write lock the row of their worker.
  expect(plan.nodeTypes).toContain('LockRows');
  expect(plan.rowsMax).toBeLessThanOrEqual(2_000);
  expect(plan.removedMax).toBeLessThanOrEqual(2_000);
});

describe('with a lane that has 20,000 pending deliveries', () => {
  test('a part of a walk through that lane reads 512 rows, although none of them is due', async () => {
    const marks = { hastenedAtMs: Date.now(), sendPendingAtMs: -Infinity };
    const options = { marks, after: '0', limit: 256, bodyBytesMax: 1_000_000, exclude: [] };
    const walk = await explain(world.admin, (database) =>
      walkLane(database, world.workerId, dominant, options, () => {}),
    );
    expect(walk.rowsMax).toBe(512);
    expect(walk.buffers).toBeLessThan(600);
  });

  test('a refill of that lane reads only the deliveries that it returns', async () => {
    const pending = await explain(world.admin, (database) =>
      selectPendingDeliveries(database, world.workerId, dominant, laneStart, [], 257),
    );
    expect(pending.rowsMax).toBe(257);
    expect(pending.buffers).toBeLessThan(100);
    const { deliveries } = await world.storage.refill(dominant, {
      fromDueAtMs: -Infinity,
      limit: 256,
      bodyBytesMax: 1_000_000,
      exclude: [],
    });
    expect(deliveries).toHaveLength(256);
    const payloads = await explain(world.admin, (database) => selectPayloads(database, deliveries));
    expect(payloads.rowsMax).toBe(256);
    // A lookup reads a few pages of an index and one of the table.
    expect(payloads.buffers).toBeLessThan(256 * 6);
  });

  test.each(['generic', 'custom'] as const)(
    'a lane that has grown since it was analyzed is read alike (%s)',
    async (plan) => {
      const lane = await world.addLane();
      await world.addDeliveries(lane, 20_000);
      const pending = await explain(
        world.admin,
        (database) => selectPendingDeliveries(database, world.workerId, lane, laneStart, [], 257),
        plan,
      );
      expect(pending.rowsMax).toBe(257);
      expect(pending.buffers).toBeLessThan(100);
    },
  );

  test('a refill of another lane reads only its deliveries', async () => {
    const [delivery] = batch;
    const lane = delivery?.subscriptionId ?? dominant;
    const pending = await explain(world.admin, (database) =>
      selectPendingDeliveries(database, world.workerId, lane, laneStart, idsOf(batch.slice(0, 5)), 257),
    );
    expect(pending.rowsMax).toBe(5);
    expect(pending.buffers).toBeLessThan(100);
  });

  test('bodies of old and new deliveries are read without the bodies between them', async () => {
    const rows = await world.admin.run(
      `select event_id::text as "eventId", event_version as "eventVersion" from webhook_payload
       where event_id in (select min(event_id) from webhook_payload union select max(event_id) from webhook_payload)`,
    );
    const keys = rows as { eventId: EventId; eventVersion: string }[];
    const payloads = await explain(world.admin, (database) => selectPayloads(database, keys));
    expect(payloads.rowsMax).toBe(2);
    expect(payloads.buffers).toBeLessThan(30);
  });

  test('the lanes of a page of the shard are found by one lookup per subscription', async () => {
    const shard = shardOf(world.account.id);
    const plan = await explain(world.admin, (database) => selectLanesOfShard(database, shard, dominant, 100));
    expect(plan.rowsMax).toBeLessThanOrEqual(101);
    expect(plan.buffers).toBeLessThan(100 * 8);
  });

  test('targets are read by their ids', async () => {
    const plan = await explain(world.admin, (database) => selectTargets(database, world.workerId, [dominant]));
    expect(plan.rowsMax).toBe(1);
    expect(plan.buffers).toBeLessThan(20);
  });

  test('the deliveries of a deleted lane are read in pages and looked up', async () => {
    await world.delete(dominant);
    const page = await selectPendingOfDeleted(world.store, dominant, null, 100);
    const reading = await explain(world.admin, (database) => selectPendingOfDeleted(database, dominant, null, 100));
    const deleting = await explain(world.admin, (database) =>
      deletePendingOfDeleted(database, world.workerId, dominant, page),
    );
    expect(page).toHaveLength(100);
    expect([reading.rowsMax, deleting.rowsMax]).toEqual([100, 100]);
    expect(deleting.removedMax).toBe(0);
  });
});
