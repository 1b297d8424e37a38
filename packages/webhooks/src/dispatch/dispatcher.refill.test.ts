import { missing } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { hangs, succeedsAfter, type World, worldWithLane } from '../../test/dispatch/world.ts';
import type { LaneId } from '../kernel/ids.ts';

/** Stores deliveries that became due one second after the other, the last of them now. */
function storeBacklog(world: World, lane: LaneId, count: number): void {
  const nowMs = world.clock.nowMs();
  for (let age = count - 1; age >= 0; age -= 1) world.store(lane, 1, { dueAtMs: nowMs - age * 1_000 });
}

test('continues to read a lane with a backlog, and reads it from its start every 30 s', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(100));
  storeBacklog(world, lane, 10_000);
  world.dispatcher.openLane(lane);
  // At 160 a second.
  await world.clock.advance(70_000);
  expect(world.storage.delivered.size).toBe(10_000);
  const froms = world.storage.refills.map(({ options: { fromDueAtMs } }) => fromDueAtMs);
  expect(froms.length).toBeGreaterThan(30);
  expect(froms[0]).toBe(-Infinity);
  const later = froms.filter((fromDueAtMs) => fromDueAtMs !== -Infinity);
  // One in 30 s, one at the end, and the first.
  expect(froms.length - later.length).toBeLessThanOrEqual(5);
  expect(later).toEqual(later.toSorted((a, b) => a - b));
});

test('sends a delivery that the former owner has rescheduled to an earlier time', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(100));
  storeBacklog(world, lane, 20_000);
  world.dispatcher.openLane(lane);
  await world.clock.advance(10_000);
  const [earlier] = world.store(lane, 1, { dueAtMs: world.clock.nowMs() - 20_000_000 });
  await world.clock.advance(40_000);
  expect(world.sentTo(lane).map(({ delivery }) => delivery.deliveryId)).toContain(earlier?.deliveryId);
  expect(world.storage.pending().length).toBeGreaterThan(5_000);
});

test('a lane is read at most ten times a second while nothing is due by the clock of the database', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(20));
  storeBacklog(world, lane, 10);
  world.storage.isClockBehind = true;
  world.dispatcher.openLane(lane);
  await world.clock.advance(10_000);
  // Each time from where it was, and from the start.
  expect(world.storage.refills.length).toBeLessThanOrEqual(2 * 101);
  world.storage.isClockBehind = false;
  await world.clock.advance(2_000);
  expect(world.storage.delivered.size).toBe(10);
});

test('a delivery whose lane was reloaded while it was in flight is retried as it is in storage then', async () => {
  const { world, lane } = worldWithLane(hangs);
  const [delivery = missing()] = world.offer(lane, 1);
  await world.clock.advance(1_000);
  const body = new TextEncoder().encode('{"erased":true}');
  world.storage.insert([{ ...delivery, body }]);
  world.dispatcher.openLane(lane);
  await world.clock.advance(30_000);
  expect(world.sent.length).toBeGreaterThan(2);
  expect(new Set(world.sent.slice(1).map(({ delivery: sent }) => sent.body))).toEqual(new Set([body]));
});
