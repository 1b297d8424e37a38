import { expect, test } from 'vitest';
import { hangs, World } from '../../test/dispatch/world.ts';
import { shardOf } from '../shard.ts';

test('a shard that is closed reports its deliveries in flight until they are settled', async () => {
  const world = new World();
  const lane = world.addLane(1, hangs);
  const other = world.addLane(2, hangs);
  const [first] = world.offer(lane, 3);
  world.offer(other, 1);
  await world.clock.advance(1_000);
  world.dispatcher.closeShard(shardOf(lane.accountId));
  expect(world.dispatcher.unfinishedIn([shardOf(lane.accountId)])).toEqual([
    { subscriptionId: lane.subscriptionId, deliveryId: first?.deliveryId },
  ]);
  await world.clock.advance(10_000);
  expect(world.dispatcher.unfinishedIn([shardOf(lane.accountId)])).toEqual([]);
  expect(world.sentTo(lane)).toHaveLength(1);
});
