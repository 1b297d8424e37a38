import { expect, test } from 'vitest';
import { hangs, hangsLongest, succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';
import { shardOf } from '../kernel/ids.ts';

test('a closed shard reports its deliveries in flight until they are settled', async () => {
  const { world, lane } = worldWithLane(hangs);
  const other = world.addLane(2, hangs);
  const [first] = world.offer(lane, 3);
  world.offer(other, 1);
  await world.clock.advance(1_000);
  world.dispatcher.closeShard(shardOf(lane.accountId));
  expect(world.dispatcher.unfinishedIn([shardOf(lane.accountId)])).toEqual([
    { subscriptionId: lane.subscriptionId, deliveryId: first?.deliveryId, timeoutMs: 5_000 },
  ]);
  await world.clock.advance(10_000);
  expect(world.dispatcher.unfinishedIn([shardOf(lane.accountId)])).toEqual([]);
  expect(world.sentTo(lane)).toHaveLength(1);
});

test('a request in flight keeps the timeout with which it started', async () => {
  const { world, lane } = worldWithLane(hangsLongest);
  const shards = [shardOf(lane.accountId)];
  world.changeTarget(lane, { timeoutMs: 15_000 });
  world.offer(lane, 1);
  await world.clock.advance(1_000);
  world.changeTarget(lane, { timeoutMs: 5_000 });
  world.dispatcher.rereadTarget(lane.subscriptionId);
  await world.clock.advance(1_000);
  expect(world.dispatcher.unfinishedIn(shards)).toMatchObject([{ timeoutMs: 15_000 }]);
  world.offer(lane, 1);
  await world.clock.advance(14_000);
  expect(world.sentTo(lane).map(({ target }) => target.timeoutMs)).toEqual([15_000, 5_000]);
  expect(world.dispatcher.unfinishedIn(shards)).toMatchObject([{ timeoutMs: 5_000 }]);
});

test('a shard of a dead worker recovers until each of its lanes has recorded a result', async () => {
  const world = new World();
  const lanes = [world.addLane(1, hangs), world.addLane(65, succeedsAfter(10)), world.addLane(2, succeedsAfter(10))];
  const shards = [...new Set(lanes.map(({ accountId }) => shardOf(accountId)))];
  expect(shards).toHaveLength(2);
  for (const lane of lanes) world.store(lane, 1);
  world.dispatcher.openLanes(
    lanes.map((lane) => ({ ...lane, mayBeMarked: false })),
    true,
  );
  expect(world.dispatcher.recoveringIn(shards)).toEqual(shards);
  await world.clock.advance(1_000);
  expect(world.dispatcher.recoveringIn(shards)).toEqual([shards[0]]);
  await world.clock.advance(10_000);
  expect(world.dispatcher.recoveringIn(shards)).toEqual([]);
});
