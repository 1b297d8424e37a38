import { toRecordId } from '@deedwire/core';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { applySubscriptionChange } from '../../src/apply-subscription-change.ts';
import { type SubscriptionId, type LaneId, shardOf } from '../../src/kernel/ids.ts';
import { StorageWorld } from '../dispatch-storage/support.ts';

const world = await forFile(StorageWorld.create());

/** Of replays. */
const steps = Promise.resolve();

/** What is called for a change, in order. */
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
  const replays = {
    readAgain: (shard: number) => void calls.push(shard === shardOf(world.account.id) ? 'replays' : 'others'),
    stepsInProgress: () => steps,
  };
  await applySubscriptionChange(
    { store: world.store, dispatcher, backlogs, replays },
    { subscriptionId: id, accountId },
  );
  return calls;
}

test('opens, reads again or closes a lane by the state of its subscription, and reads the replays of its shard', async () => {
  expect(await apply(await world.addLane())).toEqual(['changed', 'replays']);
  const { lane } = await world.seedLane(1);
  expect(await apply(lane)).toEqual(['open', 'replays']);
  await world.pause(lane);
  expect(await apply(lane)).toEqual(['close', 'replays']);
  await world.delete(lane);
  expect(await apply(lane)).toEqual(['close', 'replays', 'remove']);
  // The background deletes them.
  expect(await world.counts(lane)).toMatchObject({ pending: 1 });
});

test('ignores a change of another account, whose worker may be another one', async () => {
  const { lane } = await world.seedLane(1);
  expect(await apply(lane, toRecordId<'Account'>('4711'))).toEqual([]);
});
