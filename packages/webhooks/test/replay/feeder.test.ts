import { StoreUnavailableError } from '@deedwire/store';
import { describe, expect, test } from 'vitest';
import { FencedOutError, type WorkerId } from '../../src/fence/fence.ts';
import { type LaneId, shardOf } from '../../src/kernel/ids.ts';
import { fails, hangs, type Receiver, succeedsAfter, type World } from '../dispatch/world.ts';
import { ReplayWorld } from './replay-world.ts';

/** The 99th percentile of the times that live deliveries from `sinceMs` on waited for their requests. */
function liveWaitP99({ sent, clock }: ReplayWorld['world'], sinceMs: number): number {
  const offsetMs = clock.nowMs() - clock.elapsedMs;
  const waits = sent
    .filter(({ delivery }) => delivery.replayId === null && delivery.occurredAt.getTime() >= sinceMs)
    .map(({ delivery, startedAtMs }) => startedAtMs + offsetMs - delivery.occurredAt.getTime())
    .toSorted((a, b) => a - b);
  return waits[Math.floor(waits.length * 0.99)] ?? Infinity;
}

function replaysOfLane(receiver: Receiver): { replays: ReplayWorld; world: World; lane: LaneId } {
  const replays = new ReplayWorld();
  const { world } = replays;
  return { replays, world, lane: world.addLane(1, receiver) };
}

test('sends everything once and in order, and ends', async () => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
  const replay = replays.replay(lane, 1_000);
  await world.clock.advance(30_000);
  expect(replays.sentOf(replay)).toEqual(replay.deliveries.map(({ deliveryId }) => deliveryId));
  expect(replays.events).toEqual([{ kind: 'replay-completed', replay: replay.replay.id }]);
  expect(world.storage.pending()).toEqual([]);
});

test('starts after a takeover whose only pending delivery is not due for hours', async () => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
  world.store(lane, 1, { attempts: 7, dueAtMs: world.clock.nowMs() + 10 * 3_600_000 });
  world.dispatcher.openLanes([{ ...lane, mayBeMarked: false }], true);
  await world.clock.advance(1_000);
  const replay = replays.replay(lane, 20);
  await world.clock.advance(60_000);
  expect(replays.sentOf(replay)).toHaveLength(20);
});

test('one statement queues as many deliveries as one call has settled, and looks at those of its lane once', async () => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
  const replay = replays.replay(lane, 800);
  await world.clock.advance(30_000);
  expect(replays.sentOf(replay)).toHaveLength(800);
  expect(replays.feeds).toBeLessThan(1.2 * (800 / 8));
  // Once before each step, once after it to find that it has left no room, and at some ticks.
  expect(replays.roomsAsked).toBeLessThan(2.8 * replays.feeds);
});

test.each([20, 100, 400])('reaches 0.4 of the rate of an idle lane with a receiver of %i ms', async (afterMs) => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(afterMs));
  const count = (8 / afterMs) * 10_000;
  world.offer(lane, count);
  await world.clock.advance(60_000);
  const ended = world.sent.map(({ endedAtMs }) => endedAtMs ?? Infinity);
  const idleMs = Math.max(...ended) - Math.min(...world.sent.map(({ startedAtMs }) => startedAtMs));
  const startMs = world.clock.elapsedMs;
  const replay = replays.replay(lane, count);
  await world.clock.advance(4 * idleMs);
  const replayed = world.sent.filter(({ delivery }) => delivery.replayId === replay.replay.id);
  expect(replayed).toHaveLength(count);
  const replayMs = Math.max(...replayed.map(({ endedAtMs }) => endedAtMs ?? Infinity)) - startMs;
  expect(idleMs / replayMs).toBeGreaterThanOrEqual(0.4);
});

test('counts the attempts on, and the schedule of retries from the start', async () => {
  const { replays, world, lane } = replaysOfLane(fails);
  replays.replay(lane, 1);
  await world.clock.advance(7_000);
  expect(world.sent.map(({ attempt }) => attempt)).toEqual([16, 17]);
  const [first, second] = world.sent;
  expect((second?.startedAtMs ?? 0) - (first?.startedAtMs ?? 0)).toBeLessThan(6_100);
  // It has nothing left to queue, and would look for replays 70,000 times.
  await replays.feeder.stop();
  await world.clock.advance(4 * 24 * 3_600_000);
  expect(world.sent.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 15 }, (_, index) => index + 16));
  expect(world.storage.failed.size).toBe(1);
});

describe('after live deliveries', () => {
  // 20 per second need 1 to 8 of the 16 requests of the lane.
  test.each([20, 100, 400])('a receiver of %i ms delays them by less than a request', async (afterMs) => {
    const { replays, world, lane } = replaysOfLane(succeedsAfter(afterMs));
    // Opens the window of the lane.
    world.offer(lane, 64);
    await world.clock.advance(20_000);
    const startMs = world.clock.nowMs();
    const replay = replays.replay(lane, 10_000);
    for (let number = 0; number < 600; number += 1) {
      world.offer(lane, 1);
      await world.clock.advance(50);
      const inFlight = world.sent.filter(({ endedAtMs }) => endedAtMs === null);
      expect(inFlight.filter(({ delivery }) => delivery.replayId !== null).length).toBeLessThanOrEqual(8);
    }
    expect(liveWaitP99(world, startMs)).toBeLessThan(afterMs);
    expect(replays.sentOf(replay).length).toBeGreaterThan(100);
  });

  test('at most 8 replayed deliveries are in flight or unsettled, and 4 of 16 requests stay free', async () => {
    const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
    world.offer(lane, 64);
    await world.clock.advance(1_000);
    world.receivers.set(lane.subscriptionId, succeedsAfter(3_000));
    world.offer(lane, 6);
    await world.clock.advance(1);
    const replay = replays.replay(lane, 100);
    await world.clock.advance(1_000);
    expect(replays.sentOf(replay)).toHaveLength(6);
    world.offer(lane, 4);
    await world.clock.advance(10);
    expect(world.sent.filter(({ endedAtMs }) => endedAtMs === null)).toHaveLength(16);
    // Results that are not recorded count: a crash would repeat their requests.
    world.storage.isUnavailable = true;
    await world.clock.advance(10_000);
    expect(replays.sentOf(replay)).toHaveLength(8);
  });

  test('no more than 8 are queued although the clock of the database is ahead of what the worker knows of it', async () => {
    const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
    // Opens the window of the lane.
    world.offer(lane, 64);
    await world.clock.advance(1_000);
    world.receivers.set(lane.subscriptionId, succeedsAfter(3_000));
    replays.databaseAheadMs = 900;
    const replay = replays.replay(lane, 100);
    await world.clock.advance(800);
    expect(replay.done).toBe(8);
    await world.clock.advance(60_000);
    expect(replays.sentOf(replay)).toHaveLength(100);
  });

  test('waits while deliveries are due that are in storage only', async () => {
    const replays = new ReplayWorld({
      memory: { queueDeliveries: 16, queueBodyBytes: 1_000_000, deliveries: 50_000, bodyBytes: 256_000_000 },
    });
    const { world } = replays;
    const lane = world.addLane(1, succeedsAfter(20));
    world.offer(lane, 500);
    const replay = replays.replay(lane, 10);
    await world.clock.advance(10_000);
    expect(replays.sentOf(replay)).toHaveLength(10);
    const order = world.sentTo(lane).map(({ delivery }) => delivery.replayId !== null);
    expect(order.indexOf(true)).toBeGreaterThan(480);
  });

  test('does not delay another account', async () => {
    const { replays, world, lane } = replaysOfLane(hangs);
    const other = world.addLane(2, succeedsAfter(20));
    replays.replay(lane, 100);
    await world.clock.advance(1_000);
    world.offer(other, 1);
    await world.clock.advance(100);
    expect(world.sentTo(other)).toHaveLength(1);
  });
});

test('an idle lane whose subscription has changed reads its target for the replay', async () => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
  world.offer(lane, 1);
  await world.clock.advance(1_000);
  world.dispatcher.rereadTarget(lane.subscriptionId);
  const replay = replays.replay(lane, 10);
  await world.clock.advance(2_000);
  expect(replays.sentOf(replay)).toHaveLength(10);
});

test('queues no more than the rate allows', async () => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(5));
  const replay = replays.replay(lane, 1_000, 10);
  await world.clock.advance(10_000);
  expect(replays.sentOf(replay).length).toBeGreaterThanOrEqual(95);
  expect(replays.sentOf(replay).length).toBeLessThanOrEqual(110);
});

test('a receiver that fails stops the replay by its breaker, and one that recovers lets it go on', async () => {
  const { replays, world, lane } = replaysOfLane(fails);
  const replay = replays.replay(lane, 1_000);
  await world.clock.advance(60_000);
  const queued = replay.done;
  expect(queued).toBeLessThanOrEqual(10 + 8);
  world.receivers.set(lane.subscriptionId, succeedsAfter(5));
  await world.clock.advance(15 * 60_000);
  expect(world.storage.delivered.size).toBe(1_000);
});

test('deliveries that fail and wait for their retry do not hold up the others', async () => {
  const { replays, world, lane } = replaysOfLane(({ sequence }) => ({
    afterMs: 5,
    status: Number(sequence) % 3 === 0 ? 500 : 200,
  }));
  const replay = replays.replay(lane, 300);
  await world.clock.advance(20_000);
  expect(new Set(replays.sentOf(replay)).size).toBe(300);
  expect(world.storage.delivered.size).toBe(200);
});

test('a Retry-After holds the replay back', async () => {
  const { replays, world, lane } = replaysOfLane(() => ({ afterMs: 5, status: 429, retryAfter: '600' }));
  const replay = replays.replay(lane, 100);
  await world.clock.advance(500_000);
  expect(replays.sentOf(replay).length).toBeLessThanOrEqual(8);
});

test('a cancelled replay stops, and what it has queued is sent', async () => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
  const replay = replays.replay(lane, 1_000);
  await world.clock.advance(1_000);
  replay.isOpen = false;
  const queued = replay.done;
  await world.clock.advance(10_000);
  expect(replay.done).toBe(queued);
  expect(replays.sentOf(replay)).toHaveLength(queued);
});

test('replays of many subscriptions take turns', async () => {
  const replays = new ReplayWorld();
  const { world } = replays;
  const started = Array.from({ length: 20 }, (_, index) =>
    replays.replay(world.addLane(index + 1, succeedsAfter(20)), 1_000),
  );
  await world.clock.advance(2_000);
  const sent = started.map((replay) => replays.sentOf(replay).length);
  expect(Math.min(...sent)).toBeGreaterThan(0);
  expect(Math.max(...sent)).toBeLessThan(3 * Math.min(...sent));
});

describe('a statement that queued deliveries', () => {
  test('and whose result is lost leads to a read of the lane', async () => {
    const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
    let lost = 0;
    replays.afterFeed = () => {
      lost += 1;
      if (lost % 3 === 0) throw new StoreUnavailableError(new Error('connection lost'));
    };
    const replay = replays.replay(lane, 100);
    await world.clock.advance(200_000);
    expect(replays.sentOf(replay).toSorted()).toEqual(replay.deliveries.map(({ deliveryId }) => deliveryId).toSorted());
    expect(replays.events.filter(({ kind }) => kind === 'replay-unavailable').length).toBeGreaterThan(0);
  });

  test('is not offered once the shard was given up', async () => {
    const replays = new ReplayWorld();
    const { world, feeder } = replays;
    const lane = world.addLane(1, succeedsAfter(20));
    world.dispatcher.expect([lane]);
    await world.clock.advance(100);
    replays.afterFeed = () => {
      void feeder.removeShard(shardOf(lane.accountId));
      world.dispatcher.closeShard(shardOf(lane.accountId));
    };
    const replay = replays.replay(lane, 100);
    await world.clock.advance(1_000);
    expect(replay.done).toBeGreaterThan(0);
    expect(world.sent).toEqual([]);
  });
});

test('a worker that was declared dead feeds nothing more', async () => {
  const { replays, world, lane } = replaysOfLane(succeedsAfter(20));
  const replay = replays.replay(lane, 1_000);
  await world.clock.advance(1_000);
  const { reads } = replays;
  replays.beforeFeed = () => {
    throw new FencedOutError('1' as WorkerId);
  };
  await world.clock.advance(60_000);
  expect(replays.fenced).toBe(1);
  expect(replays.reads).toBe(reads);
  expect(replays.sentOf(replay)).toHaveLength(replay.done);
});

test('a replay whose statement the database refuses waits for a minute, and others go on', async () => {
  const replays = new ReplayWorld();
  const { world } = replays;
  let isRefused = true;
  replays.beforeFeed = () => {
    if (!isRefused) return;
    isRefused = false;
    throw new Error('refused');
  };
  const refused = replays.replay(world.addLane(1, succeedsAfter(20)), 10);
  const other = replays.replay(world.addLane(2, succeedsAfter(20)), 10);
  await world.clock.advance(50_000);
  expect(replays.events).toMatchObject([
    { kind: 'replay-refused', alarm: true, replay: refused.replay.id },
    { kind: 'replay-completed', replay: other.replay.id },
  ]);
  expect([refused, other].map((replay) => replays.sentOf(replay).length)).toEqual([0, 10]);
  await world.clock.advance(15_000);
  expect(replays.sentOf(refused)).toHaveLength(10);
});

test('an idle worker reads for replays every 5 s only', async () => {
  const replays = new ReplayWorld();
  await replays.world.clock.advance(60_000);
  expect(replays.reads).toBeGreaterThanOrEqual(11);
  expect(replays.reads).toBeLessThanOrEqual(14);
});

test('tells when the statements that are in progress have ended', async () => {
  const replays = new ReplayWorld();
  const { clock } = replays.world;
  replays.callMs = 1_000;
  replays.replay(replays.world.addLane(1, succeedsAfter(20)), 1);
  await clock.advance(1_100);
  let hasEnded = false;
  void replays.feeder.stepsInProgress().then(() => (hasEnded = true));
  await clock.advance(100);
  expect([replays.feeds, hasEnded]).toEqual([0, false]);
  await clock.advance(3_000);
  expect([replays.feeds, hasEnded]).toEqual([1, true]);
});
