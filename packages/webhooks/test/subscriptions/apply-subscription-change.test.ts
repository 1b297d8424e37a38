import { toRecordId } from '@deedwire/domain';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { applySubscriptionChange } from '../../src/apply-subscription-change.ts';
import { type SubscriptionId, type LaneId, shardOf } from '../../src/kernel/ids.ts';
import { StorageWorld } from '../dispatch-storage/support.ts';

const world = await forFile(StorageWorld.create());

/** Of replays. */
const steps = Promise.resolve();
/** Those whose replays were read again. */
const shards: number[] = [];

async function apply(id: SubscriptionId, accountId = world.account.id): Promise<string[]> {
  const calls: string[] = [];
  const dispatcher = {
    closeLane: () => void calls.push('close'),
    openLane: () => void calls.push('open'),
    rereadTarget: () => void calls.push('changed'),
  };
  const backlogs = {
    async remove(_: LaneId, writers: Promise<void>) {
      expect(writers).toBe(steps);
      calls.push('remove');
    },
  };
  const replays = { readAgain: (shard: number) => void shards.push(shard), stepsInProgress: () => steps };
  await applySubscriptionChange(
    { store: world.store, dispatcher, backlogs, replays },
    { subscriptionId: id, accountId },
  );
  return calls;
}

test('opens a lane with pending deliveries, and reads the target of another one again', async () => {
  const { lane } = await world.seedLane(1);
  expect(await apply(lane)).toEqual(['open']);
  expect(await apply(await world.addLane())).toEqual(['changed']);
});

test('ignores a change of another account, whose worker may be another one', async () => {
  const { lane } = await world.seedLane(1);
  expect(await apply(lane, toRecordId<'Partner'>('4711'))).toEqual([]);
});

test('reads the replays of the shard again, unless the change is of another account', async () => {
  const { lane } = await world.seedLane(1);
  shards.length = 0;
  await apply(lane, toRecordId<'Partner'>('4711'));
  expect(shards).toEqual([]);
  await apply(lane);
  expect(shards).toEqual([shardOf(world.account.id)]);
});

test('closes the lane of a paused subscription', async () => {
  const { lane } = await world.seedLane(1);
  await world.pause(lane);
  expect(await apply(lane)).toEqual(['close']);
});

test('closes the lane of a deleted subscription, and leaves its deliveries to the background', async () => {
  const { lane } = await world.seedLane(1);
  await world.delete(lane);
  expect(await apply(lane)).toEqual(['close', 'remove']);
  expect(await world.counts(lane)).toMatchObject({ pending: 1 });
});
