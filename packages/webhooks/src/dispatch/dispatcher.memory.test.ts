import { expect, test } from 'vitest';
import { hangs, succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';

/** Checks the bound at every virtual millisecond. */
async function advanceWatching(world: World, ms: number): Promise<{ queued: number; queuedBodyBytes: number }> {
  const max = { queued: 0, queuedBodyBytes: 0 };
  for (let elapsed = 0; elapsed < ms; elapsed += 10) {
    const { queued, queuedBodyBytes } = world.dispatcher.stats();
    max.queued = Math.max(max.queued, queued);
    max.queuedBodyBytes = Math.max(max.queuedBodyBytes, queuedBodyBytes);
    await world.clock.advance(10);
  }
  return max;
}

test('an offer of 20,000 deliveries to one lane keeps 256 in memory and delivers all', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(5));
  world.offer(lane, 20_000);
  expect(world.dispatcher.stats().queued).toBe(256);
  const max = await advanceWatching(world, 24_000);
  expect(max.queued).toBeLessThanOrEqual(256);
  expect(world.storage.delivered.size).toBe(20_000);
  expect(world.wronglySent).toEqual([]);
});

test('an offer of 20,000 deliveries to 200 lanes stays within the total bounds and delivers all', async () => {
  const memory = { queueDeliveries: 256, queueBodyBytes: 1_000_000, deliveries: 5_000, bodyBytes: 1_000_000 };
  const world = new World({ memory });
  const body = new Uint8Array(1_000);
  for (let number = 1; number <= 200; number += 1) {
    world.offer(world.addLane(number, succeedsAfter(20)), 100, { body });
  }
  const max = await advanceWatching(world, 12_000);
  expect(max.queued).toBeLessThanOrEqual(5_000);
  expect(max.queuedBodyBytes).toBeLessThanOrEqual(1_000_000 + 5 * body.length);
  expect(world.storage.delivered.size).toBe(20_000);
});

test('lanes that wait for hours do not keep a healthy lane out of memory', async () => {
  const memory = { queueDeliveries: 256, queueBodyBytes: 1_000_000, deliveries: 1_000, bodyBytes: 1_000_000_000 };
  const world = new World({ memory });
  for (let number = 1; number <= 100; number += 1) {
    const lane = world.addLane(1_000 + number, () => ({ afterMs: 10, status: 503, retryAfter: '7200' }));
    world.offer(lane, 100);
  }
  await world.clock.advance(10_000);
  const healthy = world.addLane(1, succeedsAfter(20));
  world.offer(healthy, 500);
  await world.clock.advance(10_000);
  expect(world.sentTo(healthy)).toHaveLength(500);
  expect(world.dispatcher.stats().queued).toBeLessThanOrEqual(500);
});

test('lanes that hang do not keep a healthy lane out of memory', async () => {
  const memory = { queueDeliveries: 256, queueBodyBytes: 1_000_000, deliveries: 1_000, bodyBytes: 1_000_000_000 };
  const world = new World({ memory, slots: 64 });
  for (let number = 1; number <= 400; number += 1) world.offer(world.addLane(1_000 + number, hangs), 100);
  await world.clock.advance(60_000);
  const healthy = world.addLane(1, succeedsAfter(20));
  for (let event = 0; event < 100; event += 1) {
    world.offer(healthy, 1);
    await world.clock.advance(100);
  }
  const lateStarts = world.sentTo(healthy).filter(({ startedAtMs }, index) => startedAtMs - 60_000 - index * 100 > 10);
  expect(world.sentTo(healthy)).toHaveLength(100);
  expect(lateStarts).toEqual([]);
});

test('evicts idle lanes when there are too many, but no lane in use', async () => {
  const world = new World({ lanesMax: 100 });
  const inFlight = world.addLane(5_000, hangs);
  world.offer(inFlight, 1);
  for (let number = 1; number <= 200; number += 1) {
    world.offer(world.addLane(number, succeedsAfter(1)), 1);
    await world.clock.advance(20);
  }
  expect(world.dispatcher.stats().lanes).toBeLessThanOrEqual(100);
  expect(world.storage.delivered.size).toBe(200);
  world.dispatcher.openLane(inFlight);
  await world.clock.advance(500);
  expect(world.sentTo(inFlight)).toHaveLength(1);
});

test('an account is behind while its queues are at least half full', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(20));
  expect(world.dispatcher.isBehind(lane.accountId)).toBe(false);
  world.offer(lane, 127);
  expect(world.dispatcher.isBehind(lane.accountId)).toBe(false);
  world.offer(lane, 20);
  expect(world.dispatcher.isBehind(lane.accountId)).toBe(true);
  await world.clock.advance(10_000);
  expect(world.dispatcher.isBehind(lane.accountId)).toBe(false);
});
