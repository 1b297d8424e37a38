import { describe, expect, test } from 'vitest';
import {
  fails,
  hangs,
  type Receiver,
  type ReceiverResponse,
  type SentRequest,
  succeedsAfter,
  World,
  worldWithLane,
} from '../../test/dispatch/world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The largest number of requests in flight at the same time within a period. */
function concurrency(requests: readonly SentRequest[], fromMs = 0, untilMs = Infinity): number {
  const changes = requests
    .filter(({ startedAtMs }) => startedAtMs >= fromMs && startedAtMs < untilMs)
    .flatMap(({ startedAtMs, endedAtMs }) => [
      { atMs: startedAtMs, change: 1 },
      { atMs: endedAtMs ?? Infinity, change: -1 },
    ])
    .toSorted((a, b) => a.atMs - b.atMs || a.change - b.change);
  let inFlight = 0;
  return Math.max(0, ...changes.map(({ change }) => (inFlight += change)));
}

/** How many requests start in each of the next periods of 100 ms. */
const startsFrom = (requests: readonly SentRequest[], fromMs: number, periods: number): number[] =>
  Array.from(
    { length: periods },
    (_, period) => requests.filter(({ startedAtMs }) => Math.floor((startedAtMs - fromMs) / 100) === period).length,
  );

describe('the window of a lane', () => {
  test('starts at one request, doubles with each success, and ends at 16', async () => {
    const { world, lane } = worldWithLane(succeedsAfter(100));
    world.offer(lane, 200);
    await world.clock.advance(2_000);
    expect(startsFrom(world.sent, 0, 5)).toEqual([1, 2, 8, 16, 16]);
    expect(concurrency(world.sent)).toBe(16);
  });

  test('starts at one request after failures, and doubles with each success', async () => {
    let status = 200;
    const { world, lane } = worldWithLane(() => ({ afterMs: 100, status }));
    world.offer(lane, 400);
    await world.clock.advance(1_000);
    status = 500;
    await world.clock.advance(100);
    status = 200;
    // The breaker opens for 5 s.
    await world.clock.advance(20_000);
    const resumed = world.sent.filter(({ startedAtMs }) => startedAtMs > 2_000);
    expect(startsFrom(resumed, resumed[0]?.startedAtMs ?? 0, 4)).toEqual([1, 1, 2, 8]);
  });

  test('is halved by a failure', async () => {
    const { world, lane } = worldWithLane(({ sequence }) => ({
      afterMs: 100,
      status: Number(sequence) === 12 ? 500 : 200,
    }));
    world.offer(lane, 300);
    await world.clock.advance(3_000);
    expect(world.sent.length).toBeGreaterThanOrEqual(300);
    expect(concurrency(world.sent)).toBe(16);
    expect(world.sent.filter(({ startedAtMs }) => startedAtMs === 300).length).toBeLessThan(16);
  });
});

describe('the breaker', () => {
  test('sends single probes while it is open, and probes cost one attempt each', async () => {
    const { world, lane } = worldWithLane(fails);
    world.offer(lane, 100);
    await world.clock.advance(10_000);
    const opened = world.eventsOf('breaker-opened');
    expect(opened).toHaveLength(1);
    const before = world.sent.length;
    await world.clock.advance(10 * minuteMs);
    const probes = world.sent.slice(before);
    expect(concurrency(probes)).toBe(1);
    const gapsMs = probes.slice(1).map((probe, index) => probe.startedAtMs - (probes[index]?.startedAtMs ?? 0));
    expect(gapsMs.map((gapMs) => Math.round(gapMs / 1_000))).toEqual([20, 40, 80, 160]);
    const recorded = world.storage.pending().reduce((attempts, row) => attempts + row.attempts, 0);
    expect(recorded).toBe(world.sent.length);
  });

  test('closes at the first success and delivers the backlog', async () => {
    let status = 500;
    const { world, lane } = worldWithLane(() => ({ afterMs: 10, status }));
    world.offer(lane, 100);
    await world.clock.advance(minuteMs);
    status = 200;
    await world.clock.advance(30 * minuteMs);
    expect(world.eventsOf('breaker-closed')).toHaveLength(1);
    expect(world.storage.delivered.size).toBe(100);
    expect(world.storage.targetOf(lane.subscriptionId)?.state.consecutiveFailures).toBe(0);
  });

  test('is stored, so that the next owner does not start again with ten failures', async () => {
    const { world, lane } = worldWithLane(fails);
    world.offer(lane, 100);
    await world.clock.advance(6_000);
    const before = world.sent.length;
    world.takeOver();
    await world.clock.advance(3_000);
    expect(world.sent.length - before).toBe(0);
    await world.clock.advance(minuteMs);
    expect(concurrency(world.sent.slice(before))).toBe(1);
  });
});

test('attempts follow the published schedule of three days', async () => {
  const { world, lane } = worldWithLane(fails);
  world.offer(lane, 1);
  await world.clock.advance(95 * hourMs);
  expect(world.storage.failed.size).toBe(1);
  const gaps = world.sent
    .slice(1)
    .map((sent, index) => (sent.startedAtMs - (world.sent[index]?.startedAtMs ?? 0)) / 1_000);
  const published = [5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 32_805, 43_200, 43_200, 43_200, 43_200, 43_200];
  expect(gaps).toHaveLength(14);
  for (const [index, seconds] of published.entries()) {
    expect(gaps[index]).toBeGreaterThanOrEqual(seconds);
    // A probe can be due later than the delivery.
    expect(gaps[index]).toBeLessThanOrEqual(seconds * 1.2 + 300);
  }
});

test('a subscription is paused after 96 h of failures only', async () => {
  const { world, lane } = worldWithLane(fails);
  const offerHourly = (): void => {
    world.offer(lane, 1);
    world.clock.setTimer(offerHourly, hourMs);
  };
  offerHourly();
  await world.clock.advance(96 * hourMs);
  expect(world.eventsOf('lane-paused')).toEqual([]);
  // Its breaker lets a request through every 5 minutes.
  await world.clock.advance(6 * minuteMs);
  expect(world.eventsOf('lane-paused')).toEqual([
    { kind: 'lane-paused', lane: lane.subscriptionId, reason: 'FAILING' },
  ]);
  expect(world.storage.targetOf(lane.subscriptionId)).toBeNull();
  const before = world.sent.length;
  await world.clock.advance(24 * hourMs);
  expect(world.sent).toHaveLength(before);

  // Once resumed, the receiver has another 96 h.
  world.resume(lane);
  await world.clock.advance(90 * hourMs);
  expect(world.sent.length).toBeGreaterThan(before);
  expect(world.eventsOf('lane-paused')).toHaveLength(1);
});

const isGone: Receiver = () => ({ afterMs: 10, status: 410 });

describe('410', () => {
  test('pauses the subscription, keeps its deliveries, and sends nothing more', async () => {
    const { world, lane } = worldWithLane(isGone);
    world.offer(lane, 20);
    await world.clock.advance(10);
    // Arrives while the pause is being recorded, when storage would still return the target.
    world.offer(lane, 1);
    await world.clock.advance(hourMs);
    expect(world.sent).toHaveLength(1);
    expect(world.storage.pending()).toHaveLength(21);
    expect(world.eventsOf('lane-paused')).toEqual([{ kind: 'lane-paused', lane: lane.subscriptionId, reason: 'GONE' }]);
  });

  test('does not reopen a lane whose shard was released meanwhile', async () => {
    const { world, lane } = worldWithLane(() => ({ afterMs: 1_000, status: 410 }));
    world.offer(lane, 20);
    await world.clock.advance(500);
    world.dispatcher.closeShard(1);
    // The storage records nothing for the former owner.
    world.storage.owner += 1;
    await world.clock.advance(hourMs);
    expect(world.sent).toHaveLength(1);
    expect(world.dispatcher.stats().lanes).toBe(0);
  });

  test('does not pause a subscription whose URL has changed meanwhile', async () => {
    const { world, lane } = worldWithLane(() => ({ afterMs: 1_000, status: 410 }));
    world.offer(lane, 2);
    await world.clock.advance(500);
    world.changeTarget(lane, { callbackUrl: 'https://other.example/', urlNumber: 2 });
    world.receivers.set(lane.subscriptionId, succeedsAfter(20));
    await world.clock.advance(minuteMs);
    expect(world.storage.delivered.size).toBe(2);
  });
});

describe('Retry-After of a 429 or 503', () => {
  test.each([429, 503])('holds the whole lane (%i)', async (status) => {
    let isOverloaded = true;
    const { world, lane } = worldWithLane(() =>
      isOverloaded ? { afterMs: 10, status, retryAfter: '60' } : { afterMs: 10, status: 200 },
    );
    const other = world.addLane(2, succeedsAfter(10));
    world.offer(lane, 100);
    await world.clock.advance(minuteMs - 1_000);
    world.offer(lane, 10);
    world.offer(other, 1);
    isOverloaded = false;
    await world.clock.advance(500);
    expect(world.sentTo(lane)).toHaveLength(1);
    expect(world.sentTo(other)).toHaveLength(1);
    await world.clock.advance(20_000);
    expect(world.storage.delivered.size).toBe(111);
    const resumed = world.sentTo(lane).slice(1);
    expect(resumed[0]?.startedAtMs).toBeGreaterThanOrEqual(minuteMs);
    expect(resumed.filter(({ startedAtMs }) => startedAtMs === resumed[0]?.startedAtMs)).toHaveLength(1);
  });

  test.each([
    ['while others are in flight', 60],
    ['while nothing else is in flight', 200],
  ])('restarts the lane with one request (%s)', async (_, overloadedAt) => {
    const { world, lane } = worldWithLane(({ sequence }, attempt) =>
      Number(sequence) === overloadedAt && attempt === 1
        ? { afterMs: 10, status: 429, retryAfter: '60' }
        : { afterMs: 10, status: 200 },
    );
    world.offer(lane, 199);
    await world.clock.advance(minuteMs / 2);
    world.offer(lane, 1);
    await world.clock.advance(1_000);
    world.offer(lane, 99);
    await world.clock.advance(minuteMs / 4);
    const before = world.sent.length;
    await world.clock.advance(2 * minuteMs);
    const resumed = world.sent.slice(before);
    expect(resumed.filter(({ startedAtMs }) => startedAtMs === resumed[0]?.startedAtMs)).toHaveLength(1);
    expect(world.storage.delivered.size).toBe(299);
  });

  test('is stored, so that the next owner waits as well', async () => {
    const { world, lane } = worldWithLane(() => ({ afterMs: 10, status: 429, retryAfter: '60' }));
    world.offer(lane, 20);
    await world.clock.advance(1_000);
    world.takeOver();
    await world.clock.advance(58_000);
    expect(world.sentTo(lane)).toHaveLength(1);
  });
});

const bug = (): never => {
  throw new Error('A bug.');
};

test.each<[string, () => ReceiverResponse]>([
  ['throws', bug],
  ['has a result that cannot be read', () => ({ afterMs: 10, status: 503, retryAfter: { trim: bug } as never })],
])('an attempt that %s counts as failed, affects no other delivery, and releases its slot', async (_, broken) => {
  const world = new World({ slots: 4 });
  const lane = world.addLane(1, ({ sequence }) => (sequence === '2' ? broken() : { afterMs: 10, status: 200 }));
  world.offer(lane, 20);
  await world.clock.advance(1_000);
  expect(world.eventsOf('attempt-broken')).toMatchObject([{ alarm: true, delivery: { sequence: '2' } }]);
  expect(world.storage.delivered.size).toBe(19);
  expect(world.storage.pending()).toMatchObject([{ sequence: '2', attempts: 1 }]);
  expect(world.dispatcher.stats().inFlight).toBe(0);
});

test('256 lanes that hang do not stop another lane', async () => {
  const world = new World({ slots: 256 });
  for (let number = 0; number < 256; number += 1) world.offer(world.addLane(1_000 + number, hangs), 20);
  await world.clock.advance(10_000);
  const healthy = world.addLane(1, succeedsAfter(20));
  for (let event = 0; event < 100; event += 1) {
    world.offer(healthy, 1);
    await world.clock.advance(50);
  }
  const waits = world.sentTo(healthy).map(({ startedAtMs }, index) => startedAtMs - 10_000 - index * 50);
  expect(waits).toHaveLength(100);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5);
});

test('100,000 due deliveries of one account do not delay the event of another', async () => {
  const world = new World({ slots: 256 });
  for (let number = 1; number <= 20; number += 1) {
    const lane = world.addLane(number, succeedsAfter(200), 1);
    world.store(lane, 5_000);
    world.dispatcher.openLane(lane);
  }
  await world.clock.advance(10_000);
  const other = world.addLane(1_000, succeedsAfter(20));
  for (let event = 0; event < 20; event += 1) {
    world.offer(other, 1);
    await world.clock.advance(50);
  }
  const waits = world.sentTo(other).map(({ startedAtMs }, index) => startedAtMs - 10_000 - index * 50);
  expect(waits).toHaveLength(20);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5);
  expect(world.storage.pending().length).toBeGreaterThan(50_000);
});

test('the lanes of one account use at most the share of the account', async () => {
  const world = new World();
  const account = 1;
  for (let number = 1; number <= 20; number += 1) {
    const lane = world.addLane(number, succeedsAfter(400), account);
    world.store(lane, 1_000);
    world.dispatcher.openLane(lane);
  }
  await world.clock.advance(10_000);
  expect(world.inFlightMax).toBe(20 + 125);
  expect(world.sent.length).toBeGreaterThan(145 * 20);
  const counts = Array.from(
    { length: 20 },
    (_, index) => world.sent.filter(({ delivery }) => delivery.subscriptionId === String(index + 1)).length,
  );
  expect(Math.max(...counts) / Math.min(...counts)).toBeLessThan(1.2);
});

describe('receivers that hang', () => {
  test('receive their next requests spread over time, while quick receivers do not wait', async () => {
    const world = new World();
    const lanes = world.addLanes(1_000, hangs, 10);
    const quick = world.addLane(1, succeedsAfter(10));
    for (const lane of lanes) world.offer(lane, 3);
    await world.clock.advance(5_000);
    const before = world.sent.length;
    // Each lane has failed once, so that it sends its second delivery now: one per 4 ms, in groups of 32 ms.
    for (let elapsedMs = 0; elapsedMs < 5_000; elapsedMs += 100) {
      world.offer(quick, 1);
      await world.clock.advance(100);
    }
    const next = world.sent.slice(before);
    const startedMs = next
      .filter(({ delivery }) => delivery.subscriptionId !== quick.subscriptionId)
      .map((each) => each.startedAtMs);
    const within = (fromMs: number, durationMs: number): number =>
      startedMs.filter((ms) => ms >= fromMs && ms < fromMs + durationMs).length;
    expect(within(5_000, 4_100)).toBe(1_000);
    for (let fromMs = 5_000; fromMs < 9_000; fromMs += 50) expect(within(fromMs, 50)).toBeLessThanOrEqual(20);
    expect(next.filter(({ delivery }) => delivery.subscriptionId === quick.subscriptionId)).toHaveLength(50);
  });
});

test('slow receivers of different speed fill their slots, although their requests are spread over time', async () => {
  const world = new World();
  for (let number = 1; number <= 1_000; number += 1) {
    const lane = world.addLane(number, succeedsAfter(number % 2 === 0 ? 600 : 3_000));
    world.store(lane, 60);
    world.dispatcher.openLane(lane);
  }
  await world.clock.advance(10_000);
  let inFlightSum = 0;
  for (let sample = 0; sample < 50; sample += 1) {
    await world.clock.advance(100);
    inFlightSum += world.dispatcher.stats().inFlight;
  }
  // Slow lanes leave 5/16 of the 2,000 slots to others.
  expect(inFlightSum / 50).toBeGreaterThan(0.95 * 2_000 * (11 / 16));
});
