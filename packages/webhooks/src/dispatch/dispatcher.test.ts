import { describe, expect, test } from 'vitest';
import { fails, hangs, succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';

describe('offer', () => {
  test('delivers new deliveries without reading them from storage', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.offer(lane, 3);
    await world.clock.advance(1_000);
    expect(world.storage.delivered.size).toBe(3);
    expect(world.storage.refills).toEqual([]);
    expect(world.dispatcher.stats()).toMatchObject({ inFlight: 0, unsettled: 0, queued: 0, queuedBodyBytes: 0 });
  });

  test('ignores a delivery that a refill has already returned', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    const deliveries = world.store(lane, 3);
    world.dispatcher.openLane(lane);
    await world.clock.advance(10);
    world.dispatcher.offer(deliveries);
    await world.clock.advance(1_000);
    expect(world.sent).toHaveLength(3);
  });

  test('leaves new deliveries in storage while the lane has a backlog there', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.store(lane, 1_000);
    world.dispatcher.openLane(lane);
    await world.clock.advance(100);
    const queued = world.dispatcher.stats().queued;
    world.offer(lane, 100);
    expect(world.dispatcher.stats().queued).toBe(queued);
    await world.clock.advance(10_000);
    expect(world.storage.delivered.size).toBe(1_100);
  });

  test('finds a delivery that was committed while a refill was in flight', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.storage.callMs = 10;
    world.store(lane, 1);
    world.dispatcher.openLane(lane);
    // The statement has read the table, and its response is on the way.
    world.clock.setTimer(() => world.offer(lane, 1), 7);
    await world.clock.advance(1_000);
    expect(world.storage.delivered.size).toBe(2);
  });
});

test('a delivery that is offered during a refill is not sent twice', async () => {
  const memory = { queueDeliveries: 1, queueBodyBytes: 1_000, deliveries: 100, bodyBytes: 100_000 };
  const world = new World({ memory });
  world.storage.callMs = 40;
  const lane = world.addLane(1, succeedsAfter(5));
  world.store(lane, 2);
  world.dispatcher.openLane(lane);
  // The first refill ends after 40 ms, and the first request takes from 81 to 86 ms. Then the second refill starts, which reads
  // the table at 106 ms. The offered delivery is due before anything else, because the clock was set back.
  world.clock.setTimer(() => world.offer(lane, 1, { dueAtMs: world.clock.nowMs() - 10_000 }), 90);
  await world.clock.advance(10_000);
  expect(world.storage.refills.length).toBeGreaterThanOrEqual(2);
  expect(world.sent).toHaveLength(3);
  expect(world.wronglySent).toEqual([]);
});

describe('order', () => {
  test('starts the deliveries of a lane in the order of their sequence while all succeed', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    const backlog = world.store(lane, 1_000);
    world.dispatcher.openLane(lane);
    await world.clock.advance(500);
    const offered = world.offer(lane, 50);
    await world.clock.advance(10_000);
    expect(world.sent.map(({ delivery }) => delivery.sequence)).toEqual(
      [...backlog, ...offered].map(({ sequence }) => sequence),
    );
  });

  test('starts a retry after the deliveries that were due before it', async () => {
    const { world, lane } = worldWithLane(({ sequence }, attempt) => ({
      afterMs: 1_000,
      status: sequence === '1' && attempt === 1 ? 500 : 200,
    }));
    world.offer(lane, 200);
    await world.clock.advance(60_000);
    expect(world.sent.map(({ delivery }) => delivery.sequence).slice(-2)).toEqual(['200', '1']);
  });

  test('keeps retries in memory, without reading them again', async () => {
    const { world, lane } = worldWithLane((_, attempt) => ({ afterMs: 10, status: attempt < 4 ? 500 : 200 }));
    world.offer(lane, 1);
    await world.clock.advance(600_000);
    expect(world.storage.delivered.size).toBe(1);
    expect(world.storage.refills).toEqual([]);
  });
});

describe('openLane', () => {
  test('waits for a delivery that is due later', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.store(lane, 1, { dueAtMs: world.clock.nowMs() + 3_600_000 });
    world.dispatcher.openLane(lane);
    await world.clock.advance(3_599_000);
    expect(world.sent).toEqual([]);
    await world.clock.advance(2_000);
    expect(world.sent).toHaveLength(1);
  });

  test('skips deliveries that are in flight or unsettled', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(1_000));
    world.offer(lane, 5);
    await world.clock.advance(500);
    world.dispatcher.openLane(lane);
    await world.clock.advance(10_000);
    expect(world.wronglySent).toEqual([]);
    expect(world.sent).toHaveLength(5);
    expect(world.storage.refills.at(0)?.options.exclude).toEqual(['1']);
  });
});

describe('closeLane and closeShard', () => {
  test('stop sending and record the results of requests in flight', async () => {
    const world = new World();
    const [first, second] = [world.addLane(1, succeedsAfter(1_000)), world.addLane(2, succeedsAfter(1_000))];
    world.offer(first, 10);
    world.offer(second, 10);
    await world.clock.advance(500);
    world.dispatcher.closeLane(first.subscriptionId);
    world.dispatcher.closeShard(2);
    await world.clock.advance(60_000);
    expect(world.sent).toHaveLength(2);
    expect(world.storage.delivered.size).toBe(2);
    expect(world.dispatcher.stats()).toMatchObject({ lanes: 0, queued: 0, queuedBodyBytes: 0 });
  });

  test('do not resend deliveries in flight when the lane is opened again', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(1_000));
    world.offer(lane, 3);
    await world.clock.advance(500);
    world.dispatcher.closeLane(lane.subscriptionId);
    world.dispatcher.openLane(lane);
    await world.clock.advance(10_000);
    expect(world.wronglySent).toEqual([]);
    expect(world.storage.delivered.size).toBe(3);
  });
});

describe('drain', () => {
  test('stops sending and resolves once every result is recorded', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(1_000));
    world.offer(lane, 10);
    await world.clock.advance(100);
    let isDrained = false;
    const draining = world.dispatcher.drain().then(() => (isDrained = true));
    await world.clock.advance(900);
    expect(isDrained).toBe(false);
    await world.clock.advance(100);
    await draining;
    expect(world.sent).toHaveLength(1);
    expect(world.storage.delivered.size).toBe(1);
    expect(world.clock.timers).toBe(0);
  });

  test('waits until storage is available again', async () => {
    const world = new World();
    world.offer(world.addLane(1, succeedsAfter(20)), 1);
    await world.clock.advance(10);
    world.storage.isUnavailable = true;
    let isDrained = false;
    const draining = world.dispatcher.drain().then(() => (isDrained = true));
    await world.clock.advance(60_000);
    expect(isDrained).toBe(false);
    world.storage.isUnavailable = false;
    await world.clock.advance(5_000);
    await draining;
    expect(world.clock.timers).toBe(0);
  });

  test('leaves no timer for waiting lanes', async () => {
    const world = new World();
    world.offer(world.addLane(1, fails), 5);
    world.offer(world.addLane(2, hangs), 5);
    await world.clock.advance(60_000);
    const draining = world.dispatcher.drain();
    await world.clock.advance(6_000);
    await draining;
    expect(world.clock.timers).toBe(0);
  });
});

test.each([
  ['respond', succeedsAfter(10), 16],
  ['respond late', succeedsAfter(600), 16],
  ['hang', hangs, 1],
] as const)(
  'starts one request per turn of the event loop that probably connects, and 16 others (receivers that %s)',
  async (_, receiver, further) => {
    const world = new World();
    const lanes = Array.from({ length: 400 }, (__, index) => world.addLane(index + 1, receiver));
    const startsPerTurn = async (): Promise<number> => {
      const before = world.sent.length;
      world.dispatcher.offer(lanes.flatMap((lane) => world.store(lane, 1)));
      await world.clock.advance(5_500);
      const started = world.sent.slice(before);
      expect(started.length).toBeGreaterThanOrEqual(400);
      return Math.max(...started.map(({ turn }) => started.filter((other) => other.turn === turn).length));
    };
    expect(await startsPerTurn()).toBe(1);
    expect(await startsPerTurn()).toBe(further);
  },
);

test('new deliveries are sent at once if the clock of the database is ahead of what the worker knows of it', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(20));
  world.offer(lane, 1);
  await world.clock.advance(1_000);
  const offeredAtMs = world.clock.elapsedMs;
  world.offer(lane, 2, { dueAtMs: world.clock.nowMs() + 3 });
  await world.clock.advance(1_000);
  const started = world.sentTo(lane).map(({ startedAtMs }) => startedAtMs);
  expect(started.slice(1)).toEqual([offeredAtMs, offeredAtMs]);
  expect(world.storage.delivered.size).toBe(3);
});

describe('a clock that steps back by ten seconds', () => {
  test('delays neither new deliveries nor retries nor probes', async () => {
    const world = new World();
    const healthy = world.addLane(1, succeedsAfter(20));
    const failing = world.addLane(2, (_, attempt) => ({ afterMs: 10, status: attempt === 1 ? 500 : 200 }));
    let status = 500;
    const broken = world.addLane(3, () => ({ afterMs: 10, status }));
    world.offer(healthy, 1);
    world.offer(failing, 1);
    world.offer(broken, 20);
    await world.clock.advance(1_000);
    expect(world.eventsOf('breaker-opened')).toHaveLength(1);
    status = 200;
    world.clock.step(-10_000);
    const steppedAtMs = world.clock.elapsedMs;
    world.offer(healthy, 1);
    await world.clock.advance(8_000);
    expect(world.sentTo(healthy).at(1)?.startedAtMs).toBe(steppedAtMs);
    expect(world.sentTo(failing)).toHaveLength(2);
    expect(world.sentTo(broken)).toHaveLength(30);
    expect(world.dispatcher.stats()).toMatchObject({ inFlight: 0, unsettled: 0 });
  });

  test('writes states in database time', async () => {
    const { world, lane } = worldWithLane(() => ({ afterMs: 10, status: 429, retryAfter: '60' }));
    world.clock.step(-10_000);
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    const state = world.storage.targetOf(lane.subscriptionId)?.state;
    const startMs = world.clock.nowMs() - 1_000;
    expect(state?.holdUntilMs).toBeGreaterThan(startMs + 60_000);
    expect(state?.holdUntilMs).toBeLessThan(startMs + 60_500);
  });
});
