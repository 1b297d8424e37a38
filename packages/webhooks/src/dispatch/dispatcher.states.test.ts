import { describe, expect, test } from 'vitest';
import { subscriptionId } from '../../test/dispatch/ids.ts';
import { fails, type ReceiverResponse, succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';
import type { LaneId } from '../kernel/ids.ts';
import { type LaneState, cleanLaneState } from './lane-state.ts';

const failedOnce = { afterMs: 500, status: 500 };
const dayMs = 86_400_000;
const ok = { afterMs: 20, status: 200 };

/** Responds with each of these, then with successes. */
function respondsWith(...responses: ReceiverResponse[]): () => ReceiverResponse {
  return () => responses.shift() ?? ok;
}

const storedState = (world: World): LaneState | undefined => world.storage.targetOf(subscriptionId(1))?.state;

describe('the stored state of a receiver', () => {
  test('has no failure after a handover with a failure in flight and 104 successes', async () => {
    const { world, lane } = worldWithLane(respondsWith(failedOnce));
    world.offer(lane, 1);
    await world.clock.advance(200);
    world.handOver();
    world.offer(lane, 104);
    await world.clock.advance(2_000);
    expect(world.storage.delivered.size).toBe(104);
    expect(world.storage.pending()).toMatchObject([{ attempts: 1 }]);
    expect(storedState(world)).toEqual(cleanLaneState);
  });

  test('is corrected after the next result when another worker has written it', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    const state = { ...cleanLaneState, consecutiveFailures: 1, failingSinceMs: world.clock.nowMs() };
    world.changeTarget(lane, { state });
    await world.clock.advance(4_000);
    world.offer(lane, 1);
    await world.clock.advance(100);
    world.offer(lane, 1);
    await world.clock.advance(100);
    expect(storedState(world)).toEqual(cleanLaneState);
  });

  test('is written with the next result when a result that contained it was refused', async () => {
    const { world, lane } = worldWithLane(respondsWith(failedOnce));
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    expect(storedState(world)).toMatchObject({ consecutiveFailures: 1 });
    const [refused] = world.offer(lane, 1);
    world.storage.refuses = ({ delivery }) => delivery === refused;
    await world.clock.advance(1_000);
    expect(world.eventsOf('settlement-refused')).toHaveLength(1);
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    expect(storedState(world)).toEqual(cleanLaneState);
  });

  test('is written with the next result when a result that contained it was stale', async () => {
    const { world, lane } = worldWithLane(respondsWith({ ...failedOnce, afterMs: 20 }));
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    const stale = world.offer(lane, 1).map((delivery) => ({ ...delivery, attempts: 1, dueAtMs: Infinity }));
    world.storage.insert(stale);
    await world.clock.advance(1_000);
    expect(world.eventsOf('settlement-stale')).toHaveLength(1);
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    expect(storedState(world)).toEqual(cleanLaneState);
  });

  test('is the latest one, although later results of the lane are recorded by the same call', async () => {
    const world = new World();
    // The failure and the success after it are recorded by one call.
    const lane = world.addLane(1, respondsWith(ok, { afterMs: 19, status: 500 }, ok));
    world.offer(lane, 3);
    await world.clock.advance(1_000);
    expect(storedState(world)).toEqual(cleanLaneState);
  });

  test('is not changed by a result of an earlier URL', async () => {
    const { world, lane } = worldWithLane(respondsWith(ok, failedOnce, { afterMs: 800, status: 500 }));
    world.offer(lane, 2);
    await world.clock.advance(100);
    world.changeTarget(lane, { callbackUrl: 'https://other.example/', urlNumber: 2 });
    world.dispatcher.rereadTarget(lane.subscriptionId);
    world.offer(lane, 1);
    await world.clock.advance(2_000);
    expect(world.sentTo(lane).map(({ target: { urlNumber } }) => urlNumber)).toEqual([1, 1, 2]);
    expect(storedState(world)?.consecutiveFailures).toBe(1);
  });

  test('is written while the breaker is open, once per result', async () => {
    const { world, lane } = worldWithLane(fails);
    world.offer(lane, 100);
    await world.clock.advance(10_000);
    expect(storedState(world)?.consecutiveFailures).toBe(world.sentTo(lane).length);
    expect(world.storage.laneStateWritesMax).toBe(1);
  });
});

async function openBreaker(): Promise<{ world: World; lane: LaneId; sent: number }> {
  const { world, lane } = worldWithLane(fails);
  world.offer(lane, 10);
  // Probes follow after 5, 10, 20, 40, 80, 160 and 300 s.
  await world.clock.advance(400_000);
  world.receivers.set(lane.subscriptionId, succeedsAfter(20));
  return { world, lane, sent: world.sentTo(lane).length };
}

describe('while the breaker is open', () => {
  test('a probe that storage allows earlier starts when the lane is opened', async () => {
    const { world, lane, sent } = await openBreaker();
    const state = storedState(world) ?? cleanLaneState;
    expect((state.breakerOpenUntilMs ?? 0) - world.clock.nowMs()).toBeGreaterThan(100_000);
    world.changeTarget(lane, { state: { ...state, breakerOpenUntilMs: world.clock.nowMs() } });
    world.dispatcher.openLane(lane);
    await world.clock.advance(1_000);
    expect(world.sentTo(lane).length).toBeGreaterThan(sent);
  });

  test('a new URL is called when the subscription has changed', async () => {
    const { world, lane, sent } = await openBreaker();
    world.changeTarget(lane, { urlNumber: 2, state: cleanLaneState });
    world.dispatcher.rereadTarget(lane.subscriptionId);
    await world.clock.advance(1_000);
    expect(world.sentTo(lane).length).toBeGreaterThan(sent);
  });

  test('nothing is sent when the lane is opened', async () => {
    const { world, lane, sent } = await openBreaker();
    world.dispatcher.openLane(lane);
    await world.clock.advance(1_000);
    expect(world.sentTo(lane)).toHaveLength(sent);
  });
});

test('two quiet weeks after 15 failed attempts are not failures: the next failed attempt does not pause', async () => {
  const { world, lane } = worldWithLane(fails);
  world.offer(lane, 1);
  await world.clock.advance(14 * dayMs);
  expect(world.storage.failed.size).toBe(1);
  world.offer(lane, 1);
  await world.clock.advance(1_000);
  expect(world.sentTo(lane)).toHaveLength(16);
  expect(world.eventsOf('lane-paused')).toEqual([]);
});
