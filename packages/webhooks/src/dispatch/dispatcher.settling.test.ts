import { describe, expect, test } from 'vitest';
import { succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';
import { type DeliveryId, shardOf } from '../kernel/ids.ts';
import type { DispatcherOptions } from './dispatcher.ts';

describe('a result that storage refuses', () => {
  test('is found within about 2 · log2(n) calls, set aside with an alarm, and delays no other result', async () => {
    const world = new World({ settleConcurrency: 1 });
    const refusedLane = world.addLane(1, succeedsAfter(100));
    const lanes = world.addLanes(127, succeedsAfter(100), 100);
    const [refused] = world.offer(refusedLane, 1);
    world.storage.refuses = ({ delivery }) => delivery === refused;
    for (const lane of lanes) world.offer(lane, 1);
    await world.clock.advance(1_000);
    expect(world.storage.settleBatches[0]).toBe(128);
    expect(world.storage.settleBatches).toHaveLength(1 + 2 * 7);
    expect(world.storage.delivered.size).toBe(127);
    expect(world.eventsOf('settlement-refused')).toMatchObject([{ alarm: true, delivery: { deliveryId: '1' } }]);
  });

  test('is not sent again by this process, and the rest of its lane is', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    const [refused] = world.offer(lane, 1);
    world.storage.refuses = ({ delivery }) => delivery === refused;
    await world.clock.advance(60_000);
    world.dispatcher.openLane(lane);
    world.offer(lane, 50);
    await world.clock.advance(60_000);
    expect(world.sent).toHaveLength(51);
    expect(world.storage.delivered.size).toBe(50);
    world.storage.refuses = () => false;
    world.takeOver();
    await world.clock.advance(60_000);
    expect(world.storage.delivered.size).toBe(51);
  });

  test('is sent again after its shard had another owner, even by this process', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.storage.refuses = () => true;
    world.offer(lane, 40);
    await world.clock.advance(1_000);
    expect(world.eventsOf('lane-stopped')).toHaveLength(1);
    world.storage.refuses = () => false;
    world.dispatcher.closeShard(shardOf(lane.accountId));
    world.dispatcher.openLane(lane);
    await world.clock.advance(60_000);
    expect(world.storage.delivered.size).toBe(40);
  });

  test('does not stall a worker for ever: it sends again after it has lost its shards', async () => {
    const world = new World();
    const lanes = world.addLanes(8, succeedsAfter(20));
    world.storage.refuses = () => true;
    for (const lane of lanes) world.offer(lane, 2);
    await world.clock.advance(60_000);
    expect(world.eventsOf('settling-stalled')).toHaveLength(1);
    world.storage.refuses = () => false;
    world.dispatcher.closeAllShards();
    expect(world.eventsOf('settling-resumed')).toHaveLength(1);
    for (const lane of lanes) world.dispatcher.openLane(lane);
    await world.clock.advance(60_000);
    expect(world.storage.delivered.size).toBe(16);
  });

  test('stops its lane after 16 of them', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    const other = world.addLane(2, succeedsAfter(20));
    world.storage.refuses = ({ delivery }) => delivery.subscriptionId === lane.subscriptionId;
    world.offer(lane, 200);
    await world.clock.advance(60_000);
    expect(world.sent.length).toBeLessThanOrEqual(16 + 64);
    expect(world.eventsOf('lane-stopped')).toEqual([{ kind: 'lane-stopped', alarm: true, lane: lane.subscriptionId }]);
    world.offer(other, 1);
    await world.clock.advance(1_000);
    expect(world.storage.delivered.size).toBe(1);
  });

  test('is no progress: reports a stall when every result is refused for a whole lease', async () => {
    const world = new World();
    world.storage.refuses = () => true;
    for (let number = 1; number <= 200; number += 1) {
      world.offer(world.addLane(number, succeedsAfter(20)), 1);
      await world.clock.advance(100);
    }
    expect(world.eventsOf('settling-stalled')).toHaveLength(1);
    expect(world.sent.length).toBeLessThan(200);
  });

  test('does not stall an idle worker', async () => {
    const world = new World();
    world.storage.refuses = () => true;
    world.offer(world.addLane(1, succeedsAfter(20)), 1);
    await world.clock.advance(60_000);
    expect(world.eventsOf('settlement-refused')).toHaveLength(1);
    expect(world.eventsOf('settling-stalled')).toEqual([]);
  });
});

describe('while storage is unavailable', () => {
  test('keeps the results, starts a bounded number of requests, and records everything afterwards', async () => {
    const world = new World({ slots: 64 });
    const lanes = world.addLanes(16, succeedsAfter(20));
    for (const lane of lanes) world.offer(lane, 100);
    await world.clock.advance(200);
    world.storage.isUnavailable = true;
    const before = world.sent.length;
    await world.clock.advance(10_000);
    expect(world.sent.length - before).toBeLessThanOrEqual(2 * 64);
    world.storage.isUnavailable = false;
    await world.clock.advance(60_000);
    expect(world.storage.delivered.size).toBe(1_600);
    expect(world.wronglySent).toEqual([]);
  });

  test('reads a lane again when it is unknown whether its results were recorded', async () => {
    const world = new World();
    world.storage.callMs = 10;
    const lane = world.addLane(1, () => ({ afterMs: 20, status: 500 }));
    world.offer(lane, 1);
    // The target is read within 11 ms, and the result collected for 10 ms. The statement succeeds after 5 ms, and its response
    // is lost.
    world.clock.setTimer(() => (world.storage.isUnavailable = true), 48);
    await world.clock.advance(1_000);
    world.storage.isUnavailable = false;
    world.receivers.set(lane.subscriptionId, succeedsAfter(20));
    await world.clock.advance(60_000);
    expect(world.eventsOf('settlement-stale')).toHaveLength(1);
    expect(world.storage.delivered.size).toBe(1);
    expect(world.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('reports a stall after a whole lease, starts nothing, and resumes afterwards', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.offer(lane, 1);
    await world.clock.advance(10);
    world.storage.isUnavailable = true;
    // Sets the clock back, which must not delay the report.
    world.clock.step(-10_000);
    await world.clock.advance(15_000);
    expect(world.eventsOf('settling-stalled')).toEqual([]);
    await world.clock.advance(15);
    expect(world.eventsOf('settling-stalled')).toEqual([{ kind: 'settling-stalled', alarm: true, unsettled: 1 }]);
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    expect(world.sent).toHaveLength(1);
    world.storage.isUnavailable = false;
    await world.clock.advance(5_000);
    expect(world.eventsOf('settling-resumed')).toHaveLength(1);
    expect(world.storage.delivered.size).toBe(2);
  });
});

test('a settle call that waits for a lock delays only lanes with results in the call', async () => {
  const world = new World();
  const [locked, other] = [world.addLane(1, succeedsAfter(20)), world.addLane(2, succeedsAfter(20))];
  world.storage.waits = (batch) => batch.some(({ delivery }) => delivery.subscriptionId === locked.subscriptionId);
  world.offer(locked, 100);
  await world.clock.advance(500);
  world.offer(other, 500);
  await world.clock.advance(10_000);
  expect(world.storage.delivered.size).toBe(500);
  world.storage.waits = () => false;
  await world.clock.advance(10_000);
  expect(world.storage.delivered.size).toBe(600);
});

/** Two lanes, of which another transaction locks the rows of one. */
function worldWithLockedLane(options: Partial<DispatcherOptions> = {}) {
  const { world, lane: locked } = worldWithLane(succeedsAfter(20), options);
  world.storage.isLocked = ({ delivery }) => delivery.subscriptionId === locked.subscriptionId;
  return { world, locked, other: world.addLane(2, succeedsAfter(20)) };
}

describe('a result whose row another transaction locks', () => {
  test('delays no other lane of a quiet worker, does not stall settling, and is recorded afterwards', async () => {
    const { world, locked, other } = worldWithLockedLane();
    world.offer(locked, 1);
    await world.clock.advance(60_000);
    world.offer(other, 10);
    await world.clock.advance(1_000);
    expect(world.storage.delivered.size).toBe(10);
    expect(world.eventsOf('settling-stalled')).toEqual([]);
    expect(world.eventsOf('storage-locked')).toHaveLength(1);
    world.storage.isLocked = () => false;
    await world.clock.advance(10_000);
    expect(world.storage.delivered.size).toBe(11);
    expect(world.dispatcher.stats().unsettled).toBe(0);
  });

  test('takes no slot from others, even if there are as many as slots', async () => {
    const world = new World({ slots: 64 });
    world.storage.isLocked = ({ delivery }) => delivery.accountId === lanes[0]?.accountId;
    const lanes = Array.from({ length: 3 }, (_, index) => world.addLane(1 + index, succeedsAfter(20), 1_000));
    for (const lane of lanes) world.offer(lane, 64);
    await world.clock.advance(600_000);
    const other = world.addLane(500, succeedsAfter(20));
    world.offer(other, 10);
    await world.clock.advance(60_000);
    expect(world.sentTo(other)).toHaveLength(10);
  });

  test.each([1, 64])('delays no event of a busy worker by a second (%i locked rows)', async (count) => {
    const world = new World();
    const [locked, ...lanes] = world.addLanes(41, succeedsAfter(20));
    if (locked === undefined) throw new Error('No lane.');
    for (const lane of [locked, ...lanes]) world.offer(lane, 40);
    await world.clock.advance(5_000);
    world.storage.isLocked = ({ delivery }) => delivery.subscriptionId === locked.subscriptionId;
    world.offer(locked, count);
    const offeredAtMs = new Map<DeliveryId, number>();
    for (let event = 0; event < 200; event += 1) {
      for (const lane of lanes) {
        for (const { deliveryId } of world.offer(lane, 1)) offeredAtMs.set(deliveryId, world.clock.elapsedMs);
      }
      await world.clock.advance(50);
    }
    const delays = world.sent.map(
      ({ delivery, startedAtMs }) => startedAtMs - (offeredAtMs.get(delivery.deliveryId) ?? startedAtMs),
    );
    expect(Math.max(...delays)).toBeLessThan(1_000);
  });

  test('ends a stall: storage responds', async () => {
    const { world, locked, other } = worldWithLockedLane({ leaseMs: 1_000 });
    world.storage.waits = () => true;
    world.offer(locked, 1);
    await world.clock.advance(1_500);
    expect(world.eventsOf('settling-stalled')).toHaveLength(1);
    world.storage.waits = () => false;
    await world.clock.advance(1_000);
    expect(world.eventsOf('settling-resumed')).toHaveLength(1);
    world.offer(other, 1);
    await world.clock.advance(100);
    expect(world.storage.delivered.size).toBe(1);
  });

  test('does not hide that storage is unavailable', async () => {
    const { world, locked, other } = worldWithLockedLane();
    world.offer(locked, 1);
    world.offer(other, 1);
    await world.clock.advance(10_000);
    world.offer(other, 1);
    await world.clock.advance(15);
    world.storage.isUnavailable = true;
    await world.clock.advance(16_000);
    expect(world.eventsOf('settling-stalled')).toMatchObject([{ unsettled: 2 }]);
  });

  test('counts once, although another one that was locked with it is refused: a later stall is none', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20), { settleConcurrency: 1 });
    const [first, ...others] = world.offer(lane, 3).map(({ deliveryId }) => deliveryId);
    if (first === undefined) throw new Error('No delivery.');
    const locked = new Set([first, ...others]);
    const refused = new Set<DeliveryId>();
    world.storage.isLocked = ({ delivery }) => locked.has(delivery.deliveryId);
    world.storage.refuses = ({ delivery }) => refused.has(delivery.deliveryId);
    await world.clock.advance(10_000);
    locked.delete(first);
    refused.add(first);
    await world.clock.advance(20_000);
    expect(world.eventsOf('storage-locked')).toHaveLength(3);
    locked.clear();
    await world.clock.advance(20_000);
    expect(world.dispatcher.stats().unsettled).toBe(0);
    // A result that is refused while nothing else is unsettled leaves nothing to wait for.
    const [later] = world.offer(world.addLane(2, succeedsAfter(20)), 1);
    if (later !== undefined) refused.add(later.deliveryId);
    await world.clock.advance(60_000);
    expect(world.eventsOf('settling-stalled')).toEqual([]);
  });

  test('delays neither isolated runs nor, if it is the result of one, other deliveries', async () => {
    const world = new World();
    const [locked, suspect] = [world.addLane(1, succeedsAfter(20)), world.addLane(2, succeedsAfter(20))];
    const other = world.addLane(3, succeedsAfter(20));
    world.storage.isLocked = ({ delivery }) => delivery.subscriptionId !== other.subscriptionId;
    world.offer(locked, 1);
    await world.clock.advance(10_000);
    world.offer(suspect, 1, { claims: 4 });
    await world.clock.advance(10_000);
    expect(world.sentTo(suspect)).toHaveLength(1);
    world.offer(other, 1);
    await world.clock.advance(1_000);
    expect(world.storage.delivered.size).toBe(1);
  });
});

test('settles in batches, with few calls in flight', async () => {
  const world = new World();
  const lanes = world.addLanes(100, succeedsAfter(20));
  for (const lane of lanes) world.offer(lane, 50);
  await world.clock.advance(10_000);
  expect(world.storage.delivered.size).toBe(5_000);
  expect(world.storage.settlesInFlightMax).toBeLessThanOrEqual(4);
  expect(world.storage.settleBatches.length).toBeLessThan(5_000 / 20);
});

test('writes the state of a lane once per call, and in order', async () => {
  const world = new World({ settleConcurrency: 4 });
  let responses = 0;
  const lane = world.addLane(1, () => ({ afterMs: 50, status: (responses += 1) % 5 === 4 ? 500 : 200 }));
  world.offer(lane, 400);
  await world.clock.advance(60_000);
  expect(world.storage.laneStateWritesMax).toBe(1);
  expect(world.storage.targetOf(lane.subscriptionId)?.state.consecutiveFailures).toBe(0);
});

test('reports which results were recorded, including late successes, and logs one that matched no row', async () => {
  const recorded: string[] = [];
  const { world, lane } = worldWithLane(succeedsAfter(100), {
    onRecorded: ({ delivery }) => recorded.push(delivery.deliveryId),
  });
  world.storage.isLate = ({ delivery }) => delivery.deliveryId === '2';
  world.offer(lane, 2);
  await world.clock.advance(1_000);
  expect(recorded).toEqual(['1', '2']);
  world.offer(lane, 1);
  await world.clock.advance(50);
  world.storage.owner += 1;
  await world.clock.advance(1_000);
  expect(recorded).toEqual(['1', '2']);
  expect(world.eventsOf('settlement-stale')).toHaveLength(1);
});
