import { expect, test } from 'vitest';
import { type Receiver, succeedsAfter, World, worldWithLane } from '../../test/dispatch/world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const withoutProxy: Receiver = () => ({
  afterMs: 10,
  status: null,
  proxyProblem: { mayBeReceiver: false, found: 'proxy egress.example:3128: ECONNREFUSED' },
});
const gatewayFails: Receiver = () => ({
  afterMs: 10,
  status: null,
  proxyProblem: { mayBeReceiver: true, found: 'proxy egress.example:3128: status 503' },
});

test('without its proxy, nothing counts as an attempt, and everything is delivered afterwards', async () => {
  const world = new World();
  const lanes = [1, 2, 3].map((lane) => world.addLane(lane, withoutProxy));
  for (const lane of lanes) world.offer(lane, 20);
  await world.clock.advance(hourMs);
  expect(world.events.map(({ kind }) => kind).filter((kind) => kind !== 'proxy-failed')).toEqual([]);
  expect(world.storage.pending().map(({ attempts }) => attempts)).toEqual(Array(60).fill(0));
  for (const { subscriptionId } of lanes)
    expect(world.storage.targetOf(subscriptionId)).toMatchObject({
      state: { consecutiveFailures: 0, failingSinceMs: null },
    });
  const before = world.sent.length;
  for (const lane of lanes) world.receivers.set(lane.subscriptionId, succeedsAfter(10));
  await world.clock.advance(20_000);
  expect(world.storage.delivered.size).toBe(60);
  expect(world.sent.slice(before).map(({ attempt }) => attempt)).toEqual(Array(60).fill(1));
  expect(world.wronglySent).toEqual([]);
});

test('a lane asks its proxy again after 10 to 15 s, and the failure is reported every 10 s', async () => {
  const world = new World();
  const lanes = Array.from({ length: 100 }, (_, lane) => world.addLane(lane + 1, withoutProxy));
  for (const lane of lanes) world.offer(lane, 1);
  await world.clock.advance(10 * minuteMs);
  const starts = world.sent.filter(({ delivery }) => delivery.subscriptionId === lanes[0]?.subscriptionId);
  for (const [index, { startedAtMs }] of starts.slice(1).entries()) {
    const gapMs = startedAtMs - (starts[index]?.startedAtMs ?? 0);
    expect(gapMs).toBeGreaterThanOrEqual(10_000);
    expect(gapMs).toBeLessThan(16_000);
  }
  const reports = world.eventsOf('proxy-failed');
  expect(reports.length).toBeGreaterThan(40);
  expect(reports.length).toBeLessThanOrEqual(60);
  expect(reports[0]).toEqual({
    kind: 'proxy-failed',
    alarm: true,
    found: 'proxy egress.example:3128: ECONNREFUSED',
    postponed: 1,
  });
  const reported = reports.reduce((sum, { postponed }) => sum + postponed, 0);
  expect(reported).toBeGreaterThan(world.sent.length - 200);
});

test('claims of a worker that takes over do not add up while the proxy is down', async () => {
  const { world, lane } = worldWithLane(withoutProxy);
  world.store(lane, 3, { claims: 2 });
  world.takeOver();
  await world.clock.advance(hourMs);
  expect(world.eventsOf('delivery-given-up')).toEqual([]);
  expect(world.storage.pending()).toHaveLength(3);
  world.receivers.set(lane.subscriptionId, succeedsAfter(10));
  await world.clock.advance(20_000);
  expect(world.storage.delivered.size).toBe(3);
});

test('failures that may be those of the proxy count as attempts and open the breaker, but pause nothing', async () => {
  const { world, lane } = worldWithLane(gatewayFails);
  const offerHourly = (): void => {
    world.offer(lane, 1);
    world.clock.setTimer(offerHourly, hourMs);
  };
  offerHourly();
  await world.clock.advance(200 * hourMs);
  expect(world.eventsOf('breaker-opened')).toHaveLength(1);
  expect(world.storage.failed.size).toBeGreaterThan(0);
  expect(world.eventsOf('lane-paused')).toEqual([]);
  // They are not a part of the series of a receiver that fails afterwards.
  world.receivers.set(lane.subscriptionId, () => ({ afterMs: 10, status: 500 }));
  await world.clock.advance(95 * hourMs);
  expect(world.eventsOf('lane-paused')).toEqual([]);
  await world.clock.advance(3 * hourMs);
  expect(world.eventsOf('lane-paused')).toHaveLength(1);
});
