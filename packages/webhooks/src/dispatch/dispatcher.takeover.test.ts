import { describe, expect, test } from 'vitest';
import { fails, hangs, type Receiver, succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';
import type { LaneId } from '../kernel/ids.ts';
import { cleanLaneState } from './lane-state.ts';

/** A worker process that dies as soon as it sends one of these deliveries, and is taken over. */
async function runWithDeadlyDelivery(
  world: World,
  isDeadly: (deliveryId: string) => boolean,
  lives: number,
): Promise<void> {
  for (let life = 0; life < lives; life += 1) {
    const before = world.sent.length;
    for (let ms = 0; ms < 20_000; ms += 1) {
      await world.clock.advance(1);
      if (world.sent.slice(before).some(({ delivery }) => isDeadly(delivery.deliveryId))) break;
    }
    world.takeOver();
  }
}

describe('after an expired lease', () => {
  test('all lanes start at once, with one request each until their first result is recorded', async () => {
    const world = new World();
    for (let number = 1; number <= 50; number += 1) world.store(world.addLane(number, succeedsAfter(100)), 100);
    world.takeOver();
    await world.clock.advance(100);
    expect(world.sent).toHaveLength(50);
    expect(world.inFlightMax).toBe(50);
    await world.clock.advance(20_000);
    expect(world.storage.delivered.size).toBe(5_000);
    // The claims of the first delivery of each lane are counted in few calls, and none after that.
    expect(world.storage.countedClaims.flat()).toHaveLength(50);
    expect(world.storage.countedClaims.length).toBeLessThan(10);
  });

  test.each([2, 20])(
    'a claim without a request is counted once, however often the lane is reloaded (a statement takes %i ms)',
    async (callMs) => {
      const world = new World({ slots: 4 });
      world.storage.callMs = callMs;
      for (let number = 1; number <= 8; number += 1) world.store(world.addLane(number, hangs), 50);
      const lane = world.addLane(100, succeedsAfter(20));
      const [delivery] = world.store(lane, 1);
      const claims: number[] = [];
      world.takeOver();
      let calls = 0;
      for (let ms = 0; ms < 30_000 && world.sentTo(lane).length === 0; ms += 1) {
        await world.clock.advance(1);
        claims.push(
          world.storage.pending().find(({ deliveryId }) => deliveryId === delivery?.deliveryId)?.claims.length ?? 0,
        );
        if (world.storage.countedClaims.length === calls) continue;
        calls = world.storage.countedClaims.length;
        world.dispatcher.openLane(lane);
      }
      expect(Math.max(...claims)).toBe(1);
      await world.clock.advance(1_000);
      expect([...world.storage.delivered]).toContain(delivery?.deliveryId);
    },
  );

  test('a claim is counted again after a request without a result', async () => {
    const { world, lane } = worldWithLane(hangs);
    world.store(lane, 1);
    for (const claims of [1, 2]) {
      world.takeOver();
      await world.clock.advance(1_000);
      expect(world.storage.pending()).toMatchObject([{ claims: { length: claims } }]);
    }
  });

  test('no claim is counted of a delivery that waits for a slot, however many workers die', async () => {
    const world = new World({ slots: 4 });
    for (let number = 1; number <= 20; number += 1) world.store(world.addLane(number, hangs), 2);
    for (let life = 0; life < 10; life += 1) {
      world.takeOver();
      await world.clock.advance(1_000);
      for (const { deliveryId, claims } of world.storage.pending()) {
        const requests = world.sent.filter(({ delivery }) => delivery.deliveryId === deliveryId);
        expect(claims).toHaveLength(requests.length);
      }
    }
    expect(world.storage.countedClaims.flat().length).toBeGreaterThanOrEqual(20);
  });

  test.each<[string, (world: World, lane: LaneId) => void]>([
    ['is paused', (world, lane) => world.pause(lane)],
    ['is reloaded', (world, lane) => world.dispatcher.openLane(lane)],
    ['gets another target', (world, lane) => world.changeTarget(lane, { urlNumber: 2 })],
  ])('nothing is sent to a lane that %s while its claim is counted, and its slot is free', async (_, change) => {
    const { world, lane } = worldWithLane(succeedsAfter(20), { slots: 1 });
    world.store(lane, 1);
    world.takeOver();
    while (world.dispatcher.stats().inFlight === 0) await world.clock.advance(1);
    world.storage.callMs = 100;
    await world.clock.advance(10);
    change(world, lane);
    world.dispatcher.rereadTarget(lane.subscriptionId);
    await world.clock.advance(95);
    expect(world.sent).toEqual([]);
    expect(world.dispatcher.stats().inFlight).toBe(0);
    world.storage.callMs = 2;
    world.resume(lane);
    await world.clock.advance(1_000);
    expect(world.storage.delivered.size).toBe(1);
    expect(world.storage.countedClaims.flat()).toHaveLength(1);
  });

  test('a drain waits for no claim that is being counted', async () => {
    const { world, lane } = worldWithLane(hangs);
    world.store(lane, 1);
    world.takeOver();
    while (world.dispatcher.stats().inFlight === 0) await world.clock.advance(1);
    world.storage.isUnavailable = true;
    await world.clock.advance(1_000);
    await world.dispatcher.drain();
    expect(world.sent).toEqual([]);
  });

  test('no claim is counted without an expired lease', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.store(lane, 100);
    world.dispatcher.openLane(lane);
    world.offer(lane, 100);
    await world.clock.advance(10_000);
    expect(world.storage.countedClaims).toEqual([]);
  });
});

describe('a delivery that ends its process', () => {
  test('is counted, although no attempt of it is recorded', async () => {
    const world = new World();
    const [deadly] = world.offer(world.addLane(1, hangs), 1);
    await runWithDeadlyDelivery(world, (id) => id === deadly?.deliveryId, 3);
    expect(world.storage.pending()).toMatchObject([
      { deliveryId: deadly?.deliveryId, attempts: 0, claims: { length: 2 } },
    ]);
  });

  test('fails after five claims with an alarm, and all others are delivered', async () => {
    const world = new World();
    const lanes = world.addLanes(5, succeedsAfter(20));
    const offered = lanes.map((lane) => world.offer(lane, 20));
    const deadly = offered[2]?.[7]?.deliveryId;
    await runWithDeadlyDelivery(world, (id) => id === deadly, 20);
    await world.clock.advance(60_000);
    expect([...world.storage.failed]).toEqual([deadly]);
    expect(world.eventsOf('delivery-given-up')).toMatchObject([{ alarm: true, delivery: { deliveryId: deadly } }]);
    expect(world.storage.delivered.size).toBe(99);
  });

  test('fails only after two isolated runs, with the times of its claims', async () => {
    const world = new World();
    const [deadly] = world.store(world.addLane(1, hangs), 1, { claims: 3 });
    for (let life = 0; life < 10; life += 1) world.store(world.addLane(100 + life, hangs), 1);
    for (const sent of [1, 2]) {
      world.takeOver();
      await world.clock.advance(3_000);
      expect(world.storage.failed.size).toBe(0);
      const runs = world.sent.filter(({ delivery }) => delivery.deliveryId === deadly?.deliveryId);
      expect(runs).toHaveLength(sent);
    }
    world.takeOver();
    await world.clock.advance(1_000);
    expect([...world.storage.failed]).toEqual([deadly?.deliveryId]);
    const [event] = world.eventsOf('delivery-given-up');
    expect(event?.claimedAt).toHaveLength(5);
    expect(event?.command).toBe(`deedwire-operator delivery retry ${deadly?.deliveryId}`);
  });

  test.each([3, 4])('is sent in an isolated run after %i claims', async (claims) => {
    const world = new World();
    const slow: Receiver = succeedsAfter(400);
    const lanes = world.addLanes(20, slow);
    for (const lane of lanes) world.store(lane, 50);
    const [suspect] = world.store(world.addLane(100, slow), 1, { claims });
    world.takeOver();
    await world.clock.advance(20_000);
    const run = world.sent.find(({ delivery }) => delivery.deliveryId === suspect?.deliveryId);
    const others = world.sent.filter((sent) => sent !== run);
    expect(run).toBeDefined();
    const fromMs = run?.startedAtMs ?? 0;
    const untilMs = run?.endedAtMs ?? 0;
    expect(
      others.filter(({ startedAtMs, endedAtMs }) => startedAtMs < untilMs && (endedAtMs ?? Infinity) > fromMs),
    ).toEqual([]);
    expect(world.storage.countedClaims.flat()).toContain(suspect?.deliveryId);
    await world.clock.advance(60_000);
    expect(world.storage.delivered.size).toBe(20 * 50 + 1);
  });
});

describe('deliveries with two claims', () => {
  test('are counted and sent 16 at a time, while others are sent', async () => {
    const world = new World();
    const suspects = world.addLanes(40, hangs);
    for (const lane of suspects) world.store(lane, 1, { claims: 2 });
    const healthy = world.addLane(100, succeedsAfter(20));
    world.takeOver();
    for (const expected of [16, 32, 40]) {
      world.offer(healthy, 1);
      await world.clock.advance(1_000);
      const sent = world.sent.filter(({ delivery }) => delivery.claims.length === 2);
      expect(sent).toHaveLength(expected);
      expect(world.storage.countedClaims.flat()).toEqual(
        expect.arrayContaining(sent.map(({ delivery }) => delivery.deliveryId)),
      );
      await world.clock.advance(4_000);
    }
    // Only the first one waits for a target.
    expect(world.sentTo(healthy).map(({ startedAtMs }) => startedAtMs)).toEqual([3, 5_000, 10_000]);
  });

  test('hold at most a sixteenth of the slots', async () => {
    const world = new World({ slots: 64 });
    for (let number = 1; number <= 40; number += 1) world.store(world.addLane(number, hangs), 1, { claims: 2 });
    world.takeOver();
    await world.clock.advance(1_000);
    expect(world.sent).toHaveLength(4);
  });

  test('have three claims after a crash, and then run one at a time', async () => {
    const world = new World();
    for (let number = 1; number <= 10; number += 1) world.store(world.addLane(number, hangs), 1, { claims: 2 });
    world.takeOver();
    await world.clock.advance(1_000);
    expect(world.storage.pending().map(({ claims }) => claims.length)).toEqual(Array.from({ length: 10 }, () => 3));
    const before = world.sent.length;
    world.takeOver();
    await world.clock.advance(1_000);
    expect(world.sent.length - before).toBe(1);
  });

  test('of a lane with an open breaker are sent one at a time', async () => {
    const { world, lane } = worldWithLane(() => ({ afterMs: 100, status: 500 }));
    world.offer(lane, 20);
    await world.clock.advance(4_000);
    expect(world.eventsOf('breaker-opened')).toHaveLength(1);
    const before = world.sent.length;
    world.store(lane, 5, { claims: 2 });
    world.dispatcher.openLane(lane);
    await world.clock.advance(60_000);
    const probes = world.sent.slice(before);
    expect(probes.length).toBeGreaterThan(1);
    expect(probes.some(({ startedAtMs }, index) => startedAtMs < (probes[index - 1]?.endedAtMs ?? 0))).toBe(false);
  });

  test.each([1, 30])('of lanes that hang do not delay a healthy lane (%i of 300)', async (suspects) => {
    const world = new World();
    for (let number = 0; number < 300; number += 1) {
      const hung = world.addLane(100 + number, hangs, 1 + (number % 15));
      const dueAtMs = world.clock.nowMs() - 1_000;
      if (number < suspects) world.store(hung, 1, { claims: 2, dueAtMs });
      world.store(hung, 50);
      world.dispatcher.openLane(hung);
    }
    const healthy = world.addLane(1, succeedsAfter(20), 99);
    const startMs = world.clock.nowMs();
    for (let event = 0; event < 600; event += 1) {
      world.offer(healthy, 1);
      await world.clock.advance(100);
    }
    await world.clock.advance(20_000);
    const sent = world.sentTo(healthy);
    expect(sent).toHaveLength(600);
    const waits = sent.map(({ startedAtMs, delivery }) => startedAtMs - (delivery.dueAtMs - startMs));
    expect(waits.toSorted((a, b) => a - b)[593]).toBeLessThanOrEqual(500);
  });
});

/** A receiver that is down, and how many other deliveries its lane has. */
const outages: [string, Receiver, number][] = [1, 2, 5, 10].flatMap((others) => [
  ['hangs', hangs, others],
  ['fails', fails, others],
]);

test.each(outages)(
  'a delivery with two claims whose receiver %s is sent after the outage (%#)',
  async (_, down, others) => {
    let isDown = true;
    const { world, lane } = worldWithLane((delivery, attempt) =>
      isDown ? down(delivery, attempt) : { afterMs: 20, status: 200 },
    );
    const nowMs = world.clock.nowMs();
    // The breaker allows a probe.
    const times = { breakerOpenUntilMs: nowMs - 1, failingSinceMs: nowMs - 60_000, lastFailureMs: nowMs - 20_000 };
    world.changeTarget(lane, { state: { ...cleanLaneState, consecutiveFailures: 20, breakerProbes: 3, ...times } });
    world.store(lane, 1 + others);
    world.takeOver();
    await runWithDeadlyDelivery(world, () => true, 3);
    await world.clock.advance(4 * 3_600_000);
    isDown = false;
    world.handOver();
    await world.clock.advance(48 * 3_600_000);
    expect(world.eventsOf('delivery-given-up')).toEqual([]);
    expect(world.storage.delivered.size).toBe(1 + others);
  },
);

describe('isolated runs', () => {
  test('whose rows are locked delay no other lane, and are sent afterwards', async () => {
    const world = new World();
    const suspects = [1, 2].map((number) => world.store(world.addLane(number, succeedsAfter(20)), 1, { claims: 4 }));
    const locked = new Set(suspects.flat().map(({ deliveryId }) => deliveryId));
    world.storage.skips = (id) => locked.has(id);
    const other = world.addLane(3, succeedsAfter(20));
    world.store(other, 100);
    world.takeOver();
    await world.clock.advance(20_000);
    expect(world.sentTo(other)).toHaveLength(100);
    expect(world.storage.pending()).toMatchObject([{ claims: { length: 4 } }, { claims: { length: 4 } }]);
    world.storage.skips = () => false;
    await world.clock.advance(20_000);
    expect(world.storage.delivered.size).toBe(102);
  });

  test('leave four fifths of the time to other deliveries', async () => {
    const world = new World();
    for (let number = 1; number <= 30; number += 1)
      world.store(world.addLane(number, succeedsAfter(1_000)), 1, { claims: 4 });
    const healthy = world.addLane(100, succeedsAfter(50));
    world.takeOver();
    for (let event = 0; event < 400; event += 1) {
      world.offer(healthy, 1);
      await world.clock.advance(100);
    }
    const busySeconds = new Set(world.sentTo(healthy).map(({ startedAtMs }) => Math.floor(startedAtMs / 1_000)));
    expect(busySeconds.size).toBeGreaterThan(40 * 0.7);
    await world.clock.advance(300_000);
    expect(world.storage.pending()).toEqual([]);
  });

  test('whose row is locked leaves four fifths of the time to others, although one of these is slow', async () => {
    const world = new World();
    const slow = world.addLane(1, succeedsAfter(4_000));
    const quick = world.addLane(2, succeedsAfter(20));
    world.store(slow, 1_000);
    const [suspect] = world.store(world.addLane(3, succeedsAfter(20)), 1, { claims: 4 });
    world.storage.skips = (id) => id === suspect?.deliveryId;
    world.takeOver();
    for (let event = 0; event < 1_000; event += 1) {
      world.offer(quick, 1);
      await world.clock.advance(100);
    }
    const busySeconds = new Set(world.sentTo(quick).map(({ startedAtMs }) => Math.floor(startedAtMs / 1_000)));
    expect(busySeconds.size).toBeGreaterThan(100 * 0.7);
    world.storage.skips = () => false;
    await world.clock.advance(60_000);
    expect([...world.storage.delivered]).toContain(suspect?.deliveryId);
  });

  test('complete when the clock steps back meanwhile', async () => {
    const world = new World();
    for (let number = 1; number <= 5; number += 1)
      world.store(world.addLane(number, succeedsAfter(1_000)), 1, { claims: 4 });
    world.takeOver();
    await world.clock.advance(3_000);
    world.clock.step(-10_000);
    await world.clock.advance(30_000);
    expect(world.storage.pending()).toEqual([]);
  });

  test('wait for the breaker and Retry-After of their lane without delaying other lanes', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.changeTarget(lane, { state: { ...cleanLaneState, holdUntilMs: world.clock.nowMs() + 60_000 } });
    world.store(lane, 1, { claims: 4 });
    world.takeOver();
    const healthy = world.addLane(2, succeedsAfter(20));
    await world.clock.advance(1_000);
    world.offer(healthy, 10);
    await world.clock.advance(1_000);
    expect(world.sentTo(healthy)).toHaveLength(10);
    expect(world.sentTo(lane)).toEqual([]);
    await world.clock.advance(60_000);
    expect(world.sentTo(lane)).toHaveLength(1);
  });
});
