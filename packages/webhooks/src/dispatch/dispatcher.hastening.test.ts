import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fails,
  type Receiver,
  type ReceiverResponse,
  succeedsAfter,
  World,
  worldWithLane,
} from '../../test/dispatch/world.ts';
import type { LaneId } from '../kernel/ids.ts';
import type { DispatcherOptions } from './dispatcher.ts';
import { cleanLaneState } from './lane-state.ts';
import { attemptsMax } from './retry-schedule.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A lane whose deliveries failed nine times, the last time an hour ago, and wait for nine more hours. */
function afterOutage(
  count: number,
  receiver: Receiver = succeedsAfter(100),
  options: Partial<DispatcherOptions> = {},
): { world: World; lane: LaneId } {
  const world = new World(options);
  const lane = world.addLane(1, receiver);
  const nowMs = world.clock.nowMs();
  const state = { ...cleanLaneState, consecutiveFailures: 9, lastFailureMs: nowMs - hourMs };
  world.changeTarget(lane, { state });
  for (const { deliveryId } of world.store(lane, count, { attempts: 9, dueAtMs: nowMs + 9 * hourMs }))
    world.storage.lastAttempts.set(deliveryId, { atMs: nowMs - hourMs, isTransient: true });
  world.dispatcher.openLane(lane);
  return { world, lane };
}

/** The owner asks for pending deliveries. */
function sendPending({ world, lane }: { world: World; lane: LaneId }): void {
  world.storage.mark(lane.subscriptionId, { sendPendingAtMs: world.clock.nowMs() });
  world.dispatcher.openLane(lane);
}

const sequencesOf = (deliveries: readonly { sequence: string }[]): number[] =>
  deliveries.map(({ sequence }) => Number(sequence));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('sends pending deliveries, oldest first, once the receiver works again', async () => {
  const { world, lane } = afterOutage(100);
  await world.clock.advance(minuteMs);
  expect(world.sent).toEqual([]);
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.sentSequences).toEqual([101, ...upTo(100)]);
  expect(world.storage.delivered.size).toBe(101);
});

test('sends pending deliveries once a delivery succeeds that failed before, as after a change of the URL', async () => {
  const { world, lane } = afterOutage(10);
  world.changeTarget(lane, { state: cleanLaneState });
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.sent).toHaveLength(1);
  world.offer(lane, 1, { attempts: 3 });
  await world.clock.advance(minuteMs);
  expect(world.storage.delivered.size).toBe(12);
});

test('ramps up to 16 requests at once', async () => {
  const { world, lane } = afterOutage(1_000);
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.storage.delivered.size).toBe(1_001);
  expect(world.inFlightMax).toBe(16);
  // Those that end until the mark of the first is read: each makes the statement a transaction.
  expect(world.storage.hasteningResults).toBeLessThan(4);
  const [first, ...others] = world.sent.map(({ startedAtMs }) => startedAtMs);
  expect(others.filter((startedAtMs) => startedAtMs - (first ?? 0) < 200)).toHaveLength(2);
  // 16 requests of 100 ms at once: 160 per second, less about 10 ms for each part of 256 that is read.
  expect((others.at(-1) ?? 0) - (others[0] ?? 0)).toBeLessThan(8_000);
});

test('new deliveries and retries at their time go before what is hastened', async () => {
  const { world, lane } = afterOutage(2_000, succeedsAfter(500));
  world.storage.walkedRows = 512;
  const last = world.storage.pending().at(-1);
  if (last) world.storage.insert([{ ...last, dueAtMs: world.clock.nowMs() + 12_000 }]);
  sendPending({ world, lane });
  await world.clock.advance(13_000);
  expect(world.sent.at(-1)?.startedAtMs).toBeGreaterThan(12_000);
  expect(world.sent.map(({ delivery }) => delivery.deliveryId)).toContain(last?.deliveryId);
  const before = world.sent.length;
  const [added] = world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  const position = world.sent.slice(before).findIndex(({ delivery }) => delivery.deliveryId === added?.deliveryId);
  expect(position).toBeGreaterThan(-1);
  expect(position).toBeLessThanOrEqual(16);
  expect(world.storage.delivered.size).toBe(2_001);
});

test.each([0, 60])('40 deliveries that always fail, after %i others, hold up no new ones', async (others) => {
  const isBroken = (sequence: number): boolean => sequence > others && sequence <= others + 40;
  const { world, lane } = afterOutage(others + 40, ({ sequence }) => ({
    afterMs: 10,
    status: isBroken(Number(sequence)) ? 500 : 200,
  }));
  world.storage.walkedRows = 512;
  for (let minute = 0; minute < 180; minute += 1) {
    const [added] = world.offer(lane, 1);
    const offeredAtMs = world.clock.elapsedMs;
    await world.clock.advance(minuteMs);
    const sent = world.sent.find(({ delivery }) => delivery.deliveryId === added?.deliveryId);
    expect((sent?.startedAtMs ?? Infinity) - offeredAtMs).toBeLessThan(1_000);
  }
  // Each mark lets each of them fail once.
  const broken = world.sentSequences.filter(isBroken);
  expect(broken).toHaveLength(3 * 40);
  expect(world.storage.delivered.size).toBe(others + 180);
});

test('after 8 failures in succession, what is hastened waits for a success', async () => {
  const { world, lane } = afterOutage(100, fails);
  world.changeTarget(lane, { state: cleanLaneState });
  sendPending({ world, lane });
  await world.clock.advance(hourMs);
  expect(world.sentSequences).toEqual(upTo(8));
  expect(world.eventsOf('breaker-opened')).toEqual([]);
  expect(world.dispatcher.stats().queued).toBe(0);
  world.receivers.set(lane.subscriptionId, succeedsAfter(10));
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.storage.delivered.size).toBe(101);
});

test('a delivery whose time comes while it waits for its turn is sent by its schedule', async () => {
  const { world, lane } = afterOutage(4, () => ({ afterMs: 5_000, status: null }));
  world.changeTarget(lane, { state: cleanLaneState });
  const nowMs = world.clock.nowMs();
  world.storage.insert(world.storage.pending().map((row) => ({ ...row, dueAtMs: nowMs + 12_000 })));
  sendPending({ world, lane });
  await world.clock.advance(11_000);
  expect(world.sent).toHaveLength(3);
  await world.clock.advance(10 * minuteMs);
  expect(world.sentSequences).toEqual([1, 2, 3, 4, 1, 2, 3]);
  // All but the last one were sent once before their time.
  expect(world.storage.pending().map(({ priorAttempts }) => priorAttempts)).toEqual([1, 1, 1, 0]);
});

test('sends the deliveries that wait because of their receiver, and nothing that an earlier release recorded', async () => {
  const { world, lane } = afterOutage(3);
  const [refused, unknown] = world.storage.pending();
  const atMs = world.clock.nowMs() - hourMs;
  if (refused) world.storage.lastAttempts.set(refused.deliveryId, { atMs, isTransient: false });
  if (unknown) world.storage.lastAttempts.delete(unknown.deliveryId);
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(sequencesOf(world.storage.pending())).toEqual([1, 2]);
  sendPending({ world, lane });
  await world.clock.advance(minuteMs);
  expect(sequencesOf(world.storage.pending())).toEqual([2]);
});

test('obeys Retry-After of the last attempt, and of a hastened one', async () => {
  let retryAfter: string | undefined = String(12 * 3_600);
  const { world, lane } = afterOutage(2, ({ sequence }) => ({
    afterMs: 10,
    status: sequence === '1' ? 500 : 200,
    ...(retryAfter && { retryAfter }),
  }));
  sendPending({ world, lane });
  await world.clock.advance(minuteMs);
  retryAfter = undefined;
  const [row] = world.storage.pending();
  expect(row?.dueAtMs).toBeGreaterThan(world.clock.nowMs() + 11.9 * hourMs);
  await world.clock.advance(2 * hourMs);
  sendPending({ world, lane });
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.sentSequences).toEqual([1, 2, 3]);
  await world.clock.advance(10.2 * hourMs);
  expect(world.sentSequences).toEqual([1, 2, 3, 1]);
});

test('sends each delivery once for each request of the owner, and keeps the schedule of what fails', async () => {
  const { world, lane } = afterOutage(5, () => ({ afterMs: 10, status: 400 }));
  const due = world.storage.pending().map(({ dueAtMs }) => dueAtMs);
  sendPending({ world, lane });
  await world.clock.advance(2 * hourMs);
  expect(world.sentSequences.toSorted((a, b) => a - b)).toEqual(upTo(5));
  for (const { dueAtMs, attempts, priorAttempts } of world.storage.pending()) {
    expect({ attempts, priorAttempts }).toEqual({ attempts: 10, priorAttempts: 1 });
    expect(dueAtMs).toBeGreaterThanOrEqual(due[0] ?? Infinity);
    expect(dueAtMs).toBeLessThan((due[0] ?? 0) + 1_000);
  }
  world.dispatcher.openLane(lane);
  world.takeOver();
  await world.clock.advance(2 * hourMs);
  expect(world.sent).toHaveLength(5);
  sendPending({ world, lane });
  await world.clock.advance(2 * hourMs);
  expect(world.sent).toHaveLength(10);
});

test('the last attempt of a schedule is left to it', async () => {
  const { world, lane } = afterOutage(1, fails);
  const row = world.storage.pending().at(-1);
  if (row) world.storage.insert([{ ...row, attempts: attemptsMax - 1 }]);
  sendPending({ world, lane });
  await world.clock.advance(8 * hourMs);
  expect(world.sent).toHaveLength(1);
  expect(world.storage.failed.size).toBe(0);
  await world.clock.advance(2 * hourMs);
  expect(world.sent).toHaveLength(2);
  expect(world.storage.failed.size).toBe(1);
});

test.each<[string, ReceiverResponse]>([
  ['the receiver', { afterMs: 10, status: 500 }],
  ['perhaps the proxy', { afterMs: 10, status: null, proxyProblem: { mayBeReceiver: true, found: 'proxy: 502' } }],
])('each request of the owner lets a breaker that was opened by %s probe once', async (_, response) => {
  const { world, lane } = afterOutage(20, () => response);
  const nowMs = world.clock.nowMs();
  const breakerOpenUntilMs = nowMs + 5 * minuteMs;
  const counts = { consecutiveFailures: 20, breakerProbes: 6 };
  world.changeTarget(lane, { state: { ...cleanLaneState, ...counts, breakerOpenUntilMs, lastFailureMs: nowMs - 1 } });
  sendPending({ world, lane });
  await world.clock.advance(4 * minuteMs);
  expect(world.sent).toHaveLength(1);
  world.dispatcher.openLane(lane);
  await world.clock.advance(10_000);
  expect(world.sent).toHaveLength(1);
  sendPending({ world, lane });
  await world.clock.advance(10_000);
  expect(world.sent).toHaveLength(2);
});

test('a request of the owner lets an open breaker probe after the clock was set back', async () => {
  const { world, lane } = afterOutage(20, fails);
  sendPending({ world, lane });
  await world.clock.advance(minuteMs);
  const before = world.sent.length;
  await world.clock.advance(1_000);
  expect(world.sent).toHaveLength(before);
  world.clock.step(-30 * minuteMs);
  sendPending({ world, lane });
  await world.clock.advance(1_000);
  expect(world.sent).toHaveLength(before + 1);
});

test('a lane that is opened again does not walk again', async () => {
  const { world, lane } = afterOutage(100);
  for (const [id, last] of world.storage.lastAttempts)
    world.storage.lastAttempts.set(id, { ...last, isTransient: false });
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.storage.walks).toHaveLength(25);
  world.dispatcher.openLane(lane);
  await world.clock.advance(minuteMs);
  expect(world.storage.walks).toHaveLength(25);
});

test('after a takeover, a lane that only waits reads its target if it may be marked', async () => {
  const { world, lane } = worldWithLane(succeedsAfter(10));
  const nowMs = world.clock.nowMs();
  const [row] = world.store(lane, 1, { attempts: 9, dueAtMs: nowMs + 9 * hourMs });
  if (row) world.storage.lastAttempts.set(row.deliveryId, { atMs: nowMs - hourMs, isTransient: true });
  world.takeOver();
  await world.clock.advance(hourMs);
  expect(world.storage.targetReads).toBe(0);
  world.storage.mark(lane.subscriptionId, { hastenedAtMs: world.clock.nowMs() });
  world.takeOver();
  await world.clock.advance(minuteMs);
  expect(world.storage.delivered.size).toBe(1);
});

test('two marks at once send each delivery once', async () => {
  const { world, lane } = afterOutage(8, fails);
  const nowMs = world.clock.nowMs();
  world.storage.mark(lane.subscriptionId, { hastenedAtMs: nowMs, sendPendingAtMs: nowMs - 1 });
  world.dispatcher.openLane(lane);
  await world.clock.advance(hourMs);
  expect(world.sentSequences).toEqual(upTo(8));
});

test('repeats an attempt that was in flight at the time of a mark', async () => {
  const { world, lane } = afterOutage(0, () => ({ afterMs: 5_000, status: null }));
  world.offer(lane, 1, { attempts: 9 });
  await world.clock.advance(1_000);
  sendPending({ world, lane });
  await world.clock.advance(minuteMs);
  expect(world.sent).toHaveLength(2);
});

test('a clock of the worker that is behind repeats nothing', async () => {
  const { world, lane } = afterOutage(3, fails);
  world.storage.mark(lane.subscriptionId, { sendPendingAtMs: world.clock.nowMs() + 5 * minuteMs });
  world.dispatcher.openLane(lane);
  await world.clock.advance(hourMs);
  expect(world.sent).toHaveLength(3);
});

test.each<[string, (world: World, lane: LaneId) => void]>([
  ['in the same lane', () => {}],
  ['although the lane is opened again', (world, lane) => world.dispatcher.openLane(lane)],
  ['after a takeover', (world) => world.takeOver()],
  [
    'after a pause',
    (world, lane) => {
      world.pause(lane);
      world.resume(lane);
    },
  ],
])('a success that the hourly limit refuses counts for the first one after that hour, %s', async (_, change) => {
  const { world, lane } = afterOutage(5, ({ sequence }) => ({ afterMs: 10, status: Number(sequence) > 5 ? 200 : 503 }));
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.sent).toHaveLength(6);
  world.receivers.set(lane.subscriptionId, succeedsAfter(10));
  world.offer(lane, 1);
  await world.clock.advance(10 * minuteMs);
  change(world, lane);
  await world.clock.advance(20 * minuteMs);
  expect(world.storage.delivered.size).toBe(2);
  world.offer(lane, 1);
  await world.clock.advance(30 * minuteMs);
  expect(world.storage.delivered.size).toBe(3);
  world.offer(lane, 1);
  await world.clock.advance(minuteMs);
  expect(world.storage.delivered.size).toBe(9);
  expect(world.storage.hastenedAtMs).toHaveLength(2);
});

/** The last one waits for the last retry of its schedule, and storage must count its claim before a request. */
const suspect = (count: number, receiver?: Receiver): { world: World; lane: LaneId } => {
  const { world, lane } = afterOutage(count, receiver);
  const row = world.storage.pending().at(-1);
  if (row) world.storage.insert([{ ...row, attempts: attemptsMax - 1, claims: [new Date(0), new Date(0)] }]);
  return { world, lane };
};

describe('a delivery that may have ended its workers', () => {
  test('is hastened once its receiver may get requests, and leaves its last retry to the schedule', async () => {
    const { world, lane } = suspect(2, ({ sequence }) =>
      sequence === '2' ? { afterMs: 10, status: 500 } : { afterMs: 1, status: 503, retryAfter: '60' },
    );
    sendPending({ world, lane });
    await world.clock.advance(30_000);
    expect(world.sentSequences).toEqual([1]);
    await world.clock.advance(minuteMs);
    expect(world.sentSequences).toEqual([1, 2]);
    expect(world.storage.failed.size).toBe(0);
  });

  test('is hastened when the lane is opened again meanwhile', async () => {
    const { world, lane } = suspect(1, succeedsAfter(10));
    await world.clock.advance(minuteMs);
    sendPending({ world, lane });
    while (world.storage.walks.length === 0) await world.clock.advance(1);
    await world.clock.advance(2);
    expect(world.sent).toEqual([]);
    world.dispatcher.openLane(lane);
    await world.clock.advance(minuteMs);
    expect(world.sent).toHaveLength(1);
  });
});

/** A hundred of 400 deliveries were sent, because a new one was delivered. */
const start = async (): Promise<{ world: World; lane: LaneId }> => {
  const { world, lane } = afterOutage(400);
  world.offer(lane, 1);
  while (world.storage.delivered.size < 100) await world.clock.advance(50);
  return { world, lane };
};

describe('what is hastened continues', () => {
  test.each(['takeOver', 'handOver'] as const)('after %s', async (change) => {
    const { world } = await start();
    world[change]();
    await world.clock.advance(2 * minuteMs);
    expect(world.storage.delivered.size).toBe(401);
    expect(world.wronglySent).toEqual([]);
  });

  test('after a pause', async () => {
    const { world, lane } = await start();
    world.pause(lane);
    await world.clock.advance(minuteMs);
    const paused = world.sent.length;
    await world.clock.advance(hourMs);
    expect(world.sent.length).toBe(paused);
    world.resume(lane);
    await world.clock.advance(minuteMs);
    expect(world.storage.delivered.size).toBe(401);
    expect(world.wronglySent).toEqual([]);
  });

  test('after the response of storage to the mark was lost', async () => {
    const { world, lane } = afterOutage(400);
    world.offer(lane, 1);
    while (world.storage.hastenedAtMs.length === 0) await world.clock.advance(1);
    world.storage.isUnavailable = true;
    await world.clock.advance(100);
    world.storage.isUnavailable = false;
    await world.clock.advance(minuteMs);
    expect(world.storage.delivered.size).toBe(401);
  });

  test('with the secrets of a rotation', async () => {
    const { world, lane } = await start();
    world.changeTarget(lane, { nextSecret: 'next', rotationEndsAtMs: world.clock.nowMs() + hourMs });
    world.dispatcher.openLane(lane);
    const before = world.sent.length;
    await world.clock.advance(minuteMs);
    expect(world.storage.delivered.size).toBe(401);
    expect(world.sent.length).toBeGreaterThan(before + 200);
    expect(new Set(world.sent.slice(before).map((request) => request.target.nextSecret))).toEqual(new Set(['next']));
  });

  test('after the proxy failed, which uses no attempt of the schedule', async () => {
    const { world, lane } = await start();
    const proxyProblem = { mayBeReceiver: false, found: 'proxy: 502' };
    world.receivers.set(lane.subscriptionId, () => ({ afterMs: 1, status: null, proxyProblem }));
    await world.clock.advance(minuteMs);
    for (const { dueAtMs, attempts } of world.storage.pending()) {
      expect(dueAtMs).toBeGreaterThan(world.clock.nowMs() + 8 * hourMs);
      expect(attempts).toBe(9);
    }
    world.receivers.set(lane.subscriptionId, succeedsAfter(100));
    await world.clock.advance(2 * minuteMs);
    expect(world.storage.delivered.size).toBe(401);
  });

  test('after memory was too short to hold it', async () => {
    const memory = { queueDeliveries: 8, queueBodyBytes: 10_000, deliveries: 10, bodyBytes: 100_000 };
    let response: ReceiverResponse = { afterMs: 10, status: 429, retryAfter: '60' };
    const { world, lane } = afterOutage(20, () => response, { memory });
    sendPending({ world, lane });
    await world.clock.advance(30_000);
    expect(world.sent).toHaveLength(1);
    expect(world.dispatcher.stats().queued).toBe(0);
    response = { afterMs: 10, status: 200 };
    await world.clock.advance(minuteMs);
    expect(world.storage.delivered.size).toBe(20);
  });

  test('while storage is unavailable for a moment', async () => {
    const { world, lane } = await start();
    world.storage.isUnavailable = true;
    await world.clock.advance(5_000);
    world.storage.isUnavailable = false;
    world.dispatcher.rereadTarget(lane.subscriptionId);
    world.offer(lane, 600);
    await world.clock.advance(2 * minuteMs);
    expect(world.storage.delivered.size).toBe(1_001);
    expect(world.wronglySent).toEqual([]);
  });
});

interface Flapping {
  /** How long the receiver is down and up, in turn. */
  readonly periodsMinutes: readonly number[];
  /** Every nth delivery fails always. */
  readonly brokenEach: number;
  readonly takeOverHour: number;
  readonly askHour: number;
  readonly pauseHour: number;
}

/** Runs a receiver that flaps for four days, which is longer than a schedule. */
async function flap({ periodsMinutes, brokenEach, takeOverHour, askHour, pauseHour }: Flapping): Promise<World> {
  const world = new World({ random: () => 0 });
  const cycleMs = periodsMinutes.reduce((sum, minutes) => sum + minutes, 0) * minuteMs;
  const isUp = (): boolean => {
    let leftMs = world.clock.elapsedMs % cycleMs;
    return periodsMinutes.findIndex((minutes) => (leftMs -= minutes * minuteMs) < 0) % 2 === 1;
  };
  const lane = world.addLane(1, ({ sequence }) => ({
    afterMs: 30,
    status: isUp() && Number(sequence) % brokenEach !== 0 ? 200 : 503,
  }));
  for (let hour = 0; hour < 96; hour += 1) {
    if (hour < 24) world.offer(lane, 2);
    if (hour === takeOverHour) world.takeOver();
    if (hour === pauseHour) world.pause(lane);
    if (hour === pauseHour + 1) world.resume(lane);
    if (hour === askHour) sendPending({ world, lane });
    await world.clock.advance(hourMs);
  }
  return world;
}

test('a receiver that flaps gets one additional request per mark and delivery, and nothing fails earlier', async () => {
  const scheduleMs = upTo(attemptsMax - 1)
    .map((attempt) => Math.min(5_000 * 3 ** (attempt - 1), 12 * hourMs))
    .reduce((sum, delayMs) => sum + delayMs, 0);
  let additional = 0;
  let failed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        periodsMinutes: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 6 }),
        brokenEach: fc.integer({ min: 2, max: 10 }),
        takeOverHour: fc.integer({ min: 1, max: 95 }),
        askHour: fc.integer({ min: 1, max: 95 }),
        pauseHour: fc.integer({ min: 1, max: 95 }),
      }),
      async (given) => {
        const world = await flap(given);
        const allMarks = [...world.storage.hastenedAtMs, given.askHour * hourMs].toSorted((a, b) => a - b);
        const requests = Map.groupBy(world.sent, ({ delivery }) => delivery.deliveryId);
        const durationsMs: number[] = [];
        for (const [id, sent] of requests) {
          const hastened = sent.filter(({ delivery }, index) => {
            const { priorAttempts } = sent[index + 1]?.delivery ?? delivery;
            return priorAttempts > delivery.priorAttempts;
          });
          const markOf = ({ startedAtMs }: { startedAtMs: number }): number =>
            allMarks.findLastIndex((markedAtMs) => markedAtMs <= startedAtMs);
          expect(new Set(hastened.map(markOf)).size).toBe(hastened.length);
          expect(sent.length - hastened.length).toBeLessThanOrEqual(attemptsMax);
          additional += hastened.length;
          if (world.storage.failed.has(id))
            durationsMs.push((sent.at(-1)?.startedAtMs ?? 0) - (sent[0]?.startedAtMs ?? 0));
        }
        failed += durationsMs.length;
        expect(Math.min(Infinity, ...durationsMs)).toBeGreaterThanOrEqual(scheduleMs);
        expect(world.wronglySent).toEqual([]);
      },
    ),
    { numRuns: Number(process.env['RUNS'] ?? 12) },
  );
  expect(additional).toBeGreaterThan(0);
  expect(failed).toBeGreaterThan(0);
});
