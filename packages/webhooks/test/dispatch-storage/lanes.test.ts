import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { selectLane, selectLanesOfShard, selectTargets } from '../../src/dispatch/sql/lanes.ts';
import { type SubscriptionId, type LaneId, type Shard, shardOf } from '../../src/kernel/ids.ts';
import { subscriptionId } from '../dispatch/ids.ts';
import { StorageWorld } from './support.ts';

let active: SubscriptionId;
let paused: SubscriptionId;
let deleted: SubscriptionId;
const world = await forFile(StorageWorld.create());
({ lane: active } = await world.seedLane(2));
const idle = await world.addLane();
({ lane: paused } = await world.seedLane(1));
await world.pause(paused);
({ lane: deleted } = await world.seedLane(1));
await world.delete(deleted);

const laneId = (lane: SubscriptionId): LaneId => ({ subscriptionId: lane, accountId: world.account.id });

const marked = (lane: SubscriptionId, mayBeMarked = false) => ({ ...laneId(lane), mayBeMarked });

test('the lanes of a shard are the active subscriptions with pending deliveries', async () => {
  const shard = shardOf(world.account.id);
  const page = (of: Shard, after: SubscriptionId | null, limit: number) =>
    selectLanesOfShard(world.store, of, after, limit);
  expect(await page(shard, null, 10)).toEqual({ lanes: [marked(active)], last: null });
  expect(await page(shard, null, 2)).toEqual({ lanes: [marked(active)], last: idle });
  expect(await page(shard, active, 2)).toEqual({ lanes: [], last: paused });
  expect(await page(shard, paused, 2)).toEqual({ lanes: [], last: null });
  expect(await page((shard + 1) % 64, null, 10)).toEqual({ lanes: [], last: null });
});

test.each<[boolean, number, 'hastened_at' | 'send_pending_at']>([
  [true, 14, 'hastened_at'],
  [false, 16, 'hastened_at'],
  [true, 14, 'send_pending_at'],
])('a lane may be marked: %s, %i hours after %s', async (mayBeMarked, hours, mark) => {
  const set = `update webhook_subscription set ${mark} = now() - $2 * interval '1 hour' where id = $1`;
  await world.admin.run(set, [active, hours]);
  const { lanes } = await selectLanesOfShard(world.store, shardOf(world.account.id), null, 1);
  expect(lanes).toEqual([marked(active, mayBeMarked)]);
});

const read = (lane: SubscriptionId): unknown => selectLane(world.store, lane);

test('one lane is read with its state', async () => {
  expect(await read(active)).toEqual({ laneId: laneId(active), isActive: true, isDeleted: false, hasPending: true });
  expect(await read(idle)).toEqual({ laneId: laneId(idle), isActive: true, isDeleted: false, hasPending: false });
  expect(await read(paused)).toEqual({ laneId: laneId(paused), isActive: false, isDeleted: false, hasPending: true });
  expect(await read(deleted)).toEqual({ laneId: laneId(deleted), isActive: false, isDeleted: true, hasPending: true });
  expect(await read(subscriptionId(1))).toBeNull();
});

test('an account that is not at home has no lanes and no targets', async () => {
  const { account, admin, store, workerId } = world;
  const targets = async (): Promise<SubscriptionId[]> =>
    (await selectTargets(store, workerId, [active])).map(({ subscriptionId: id }) => id);
  expect(await targets()).toEqual([active]);
  for (const home of ['1, next_freeze()', '1, null', '0, next_freeze()']) {
    await admin.run(`insert into account_home select $1, ${home}`, [account.id]);
    expect(await targets()).toEqual([]);
    expect((await selectLanesOfShard(store, shardOf(account.id), null, 10)).lanes).toEqual([]);
    expect(await read(active)).toMatchObject({ isActive: false });
    await admin.run('delete from account_home');
  }
  expect(await targets()).toEqual([active]);
});
