import { describe, expect, test } from 'vitest';
import { succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';
import type { LaneId } from '../kernel/ids.ts';

const offerEvery = (world: World, lane: LaneId, everyMs: number): void => {
  world.offer(lane, 1);
  world.clock.setTimer(() => offerEvery(world, lane, everyMs), everyMs);
};

describe('a target', () => {
  test('is read again within 5 s when the notification of a change is lost, without delaying deliveries', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    offerEvery(world, lane, 100);
    await world.clock.advance(10_050);
    world.changeTarget(lane, { callbackUrl: 'https://other.example/', urlNumber: 2 });
    await world.clock.advance(20_000);
    const last = world.sent.findLast(({ target }) => target.callbackUrl !== 'https://other.example/');
    expect(last?.startedAtMs).toBeLessThan(15_050);
    expect(world.storage.targetReads).toBeLessThanOrEqual(9);
    // Only the first delivery waits for a target.
    const waits = world.sent.slice(1).map(({ startedAtMs }) => startedAtMs % 100);
    expect(new Set(waits)).toEqual(new Set([0]));
  });

  test('is read before the next request after a notification of a change', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    offerEvery(world, lane, 100);
    await world.clock.advance(1_050);
    world.changeTarget(lane, { callbackUrl: 'https://other.example/', urlNumber: 2 });
    world.dispatcher.rereadTarget(lane.subscriptionId);
    await world.clock.advance(1_000);
    const late = world.sent.filter(({ startedAtMs }) => startedAtMs > 1_050);
    expect(new Set(late.map(({ target }) => target.callbackUrl))).toEqual(new Set(['https://other.example/']));
  });

  test('has the request header of each change, although the URL is the same', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    const changes = [
      { requestHeader: { name: 'X-A', value: '1' } },
      { requestHeader: { name: 'X-A', value: '2' } },
      { requestHeader: { name: 'X-B', value: '2' } },
      { requestHeader: null, isHeaderDropped: true },
      { isHeaderDropped: false },
    ];
    for (const change of [{}, ...changes]) {
      world.changeTarget(lane, change);
      world.dispatcher.rereadTarget(lane.subscriptionId);
      world.offer(lane, 1);
      await world.clock.advance(1_000);
    }
    const sent = world.sent.map(({ target: { requestHeader, isHeaderDropped } }) => [requestHeader, isHeaderDropped]);
    expect(sent).toEqual([
      [null, false],
      [{ name: 'X-A', value: '1' }, false],
      [{ name: 'X-A', value: '2' }, false],
      [{ name: 'X-B', value: '2' }, false],
      [null, true],
      [null, false],
    ]);
  });

  test('is read again at the end of a rotation, without a notification', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    offerEvery(world, lane, 100);
    await world.clock.advance(950);
    world.changeTarget(lane, { nextSecret: 'new', rotationEndsAtMs: world.clock.nowMs() + 2_050 });
    world.dispatcher.rereadTarget(lane.subscriptionId);
    await world.clock.advance(2_000);
    world.changeTarget(lane, { secret: 'new', nextSecret: null, rotationEndsAtMs: null });
    await world.clock.advance(2_000);
    const signed = world.sent.map(({ startedAtMs, target: { secret, nextSecret } }) => {
      const phase = startedAtMs < 950 ? 'before' : startedAtMs < 3_000 ? 'overlap' : 'after';
      return `${phase}: ${secret} ${nextSecret}`;
    });
    expect([...new Set(signed)]).toEqual([
      'before: whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0 null',
      'overlap: whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0 new',
      'after: new null',
    ]);
    expect(world.storage.targetReads).toBeLessThanOrEqual(4);
  });

  test('is not read in a loop while the database does not see the end of a rotation', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    offerEvery(world, lane, 100);
    await world.clock.advance(50);
    world.changeTarget(lane, { nextSecret: 'new', rotationEndsAtMs: world.clock.nowMs() + 950 });
    world.dispatcher.rereadTarget(lane.subscriptionId);
    await world.clock.advance(10_000);
    expect(world.storage.targetReads).toBeLessThanOrEqual(6);
    expect(world.sent.length).toBeGreaterThan(95);
  });

  test.each([
    [15_000, 1_000, 6_000],
    [3_000, 1_900, 2_900],
  ])(
    'is not used for longer than a third of a lease of %i ms, so that no takeover happens meanwhile',
    async (leaseMs, unavailableMs, lastMs) => {
      const { world, lane } = worldWithLane(succeedsAfter(20), { leaseMs });
      offerEvery(world, lane, 100);
      await world.clock.advance(unavailableMs);
      world.storage.isUnavailable = true;
      await world.clock.advance(10_000);
      expect(world.sent.at(-1)?.startedAtMs).toBeGreaterThan(unavailableMs);
      expect(world.sent.at(-1)?.startedAtMs).toBeLessThanOrEqual(lastMs);
    },
  );

  test('stays the same object until it changes', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    offerEvery(world, lane, 100);
    await world.clock.advance(5_000);
    world.changeTarget(lane, {});
    await world.clock.advance(15_000);
    expect(new Set(world.sent.map(({ target }) => target)).size).toBe(1);
  });

  test('is read while the deliveries are written, and not again after it', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(20));
    world.dispatcher.expect([lane]);
    await world.clock.advance(100);
    world.offer(lane, 1);
    await world.clock.advance(0);
    expect(world.sent.map(({ startedAtMs }) => startedAtMs)).toEqual([100]);
    expect(world.storage.targetReads).toBe(1);
    await world.clock.advance(60_000);
    world.dispatcher.expect([lane]);
    await world.clock.advance(100);
    world.offer(lane, 1);
    await world.clock.advance(0);
    expect(world.sent.map(({ startedAtMs }) => startedAtMs)).toEqual([100, 60_200]);
    expect(world.storage.targetReads).toBe(2);
  });

  test('is read for many lanes with few calls', async () => {
    const world = new World();
    for (let number = 1; number <= 2_000; number += 1) world.offer(world.addLane(number, succeedsAfter(20)), 1);
    await world.clock.advance(1_000);
    expect(world.storage.delivered.size).toBe(2_000);
    expect(world.storage.targetReads).toBeLessThanOrEqual(16);
  });
});

test('a paused or deleted subscription receives nothing after 5 s, and keeps its deliveries', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(20));
  offerEvery(world, lane, 100);
  await world.clock.advance(1_000);
  world.storage.pause(lane.subscriptionId);
  await world.clock.advance(20_000);
  expect(world.sent.at(-1)?.startedAtMs).toBeLessThanOrEqual(6_000);
  expect(world.storage.pending().length).toBeGreaterThan(140);
  expect(world.dispatcher.stats().queued).toBeLessThanOrEqual(1);
});

test('a secret that cannot be decrypted postpones the lane with an alarm, and costs no attempt', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(20));
  world.changeTarget(lane, { secret: null });
  world.offer(lane, 5);
  await world.clock.advance(59_000);
  expect(world.eventsOf('secret-unreadable')).toEqual([
    { kind: 'secret-unreadable', alarm: true, lane: lane.subscriptionId },
  ]);
  expect(world.sent).toEqual([]);
  world.changeTarget(lane, { secret: 'readable' });
  await world.clock.advance(3_000);
  expect(world.storage.delivered.size).toBe(5);
  expect(world.sent.every(({ attempt }) => attempt === 1)).toBe(true);
});

test('a notification of a change ends the wait for an unreadable secret', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(20));
  world.changeTarget(lane, { secret: null });
  world.offer(lane, 5);
  await world.clock.advance(1_000);
  world.changeTarget(lane, { secret: 'readable' });
  world.dispatcher.rereadTarget(lane.subscriptionId);
  await world.clock.advance(1_000);
  expect(world.storage.delivered.size).toBe(5);
});

test('a worker that was declared dead, as while it was stopped, sends nothing once its targets are 5 s old', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(20));
  offerEvery(world, lane, 100);
  await world.clock.advance(1_000);
  world.storage.owner += 1;
  world.clock.step(15_000);
  await world.clock.advance(30_000);
  expect(world.sent.at(-1)?.startedAtMs).toBeLessThanOrEqual(1_000);
});
