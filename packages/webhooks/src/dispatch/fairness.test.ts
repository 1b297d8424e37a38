import { beforeAll, describe, expect, test } from 'vitest';
import { hangs, hangsLongest, type Receiver, succeedsAfter, World } from '../../test/dispatch/world.ts';
import type { LaneId } from '../kernel/ids.ts';
import { cleanLaneState } from './lane-state.ts';

// Neighbors have no history at first, so that each is quick until its first request has taken 500 ms.
const usualWarmUpMs = 12_000;
const measuredMs = 5_000;
const healthyLanes = 20;
const eventsPerSecond = 20;

interface Neighbors {
  lanes: number;
  perAccount: number;
  receiver: Receiver;
  /** Deliveries of each lane, more than it sends. */
  backlog: number;
  warmUpMs?: number;
}

interface Waits {
  /** From the commit to the start of the first attempt, in milliseconds. */
  p50: number;
  p99: number;
  /** From the commit to the response. */
  responseP99: number;
}

/** Events do not depend on each other. A third of them meets an earlier one of the same lane in flight. */
const nextEventMs = (random: () => number): number => (-Math.log(1 - random()) * 1_000) / eventsPerSecond;

/** Runs healthy lanes, each of another account, next to neighbors that always have a backlog. */
async function measureWaits(neighbors: Neighbors): Promise<Waits> {
  const world = new World({ slots: 2_000 }, 7);
  const { clock, random } = world;
  const { warmUpMs = usualWarmUpMs } = neighbors;
  for (let lane = 0; lane < neighbors.lanes; lane += 1) {
    const id = world.addLane(1_000 + lane, neighbors.receiver, 1_000 + Math.floor(lane / neighbors.perAccount));
    world.store(id, neighbors.backlog);
    world.dispatcher.openLane(id);
  }
  const startMs = clock.nowMs();
  const healthy = new Set<string>();
  const offerForever = (id: LaneId): void => {
    world.offer(id, 1);
    clock.setTimer(() => offerForever(id), nextEventMs(random));
  };
  for (let lane = 1; lane <= healthyLanes; lane += 1) {
    const id = world.addLane(lane, () => ({ afterMs: 10 + Math.round(20 * random()), status: 200 }));
    healthy.add(id.subscriptionId);
    clock.setTimer(() => offerForever(id), random() * 50);
  }
  await clock.advance(warmUpMs + measuredMs);
  const pending = world.storage.pending().filter(({ subscriptionId }) => !healthy.has(subscriptionId));
  expect(new Set(pending.map(({ subscriptionId }) => subscriptionId)).size).toBe(neighbors.lanes);

  const starts: number[] = [];
  const responses: number[] = [];
  for (const { delivery, startedAtMs, endedAtMs } of world.sent) {
    if (!healthy.has(delivery.subscriptionId) || startedAtMs < warmUpMs) continue;
    const committedMs = delivery.dueAtMs - startMs;
    starts.push(startedAtMs - committedMs);
    if (endedAtMs !== null) responses.push(endedAtMs - committedMs);
  }
  const expectedCount = healthyLanes * eventsPerSecond * (measuredMs / 1_000);
  expect(starts.length).toBeGreaterThan(0.95 * expectedCount);
  return { p50: percentile(starts, 0.5), p99: percentile(starts, 0.99), responseP99: percentile(responses, 0.99) };
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Infinity;
}

const flaps: Receiver = ({ sequence }) =>
  Math.floor(Number(sequence) / 30) % 2 === 0 ? { afterMs: 300, status: 200 } : { afterMs: 5_000, status: null };

const neighbors: [string, Neighbors][] = [
  [
    '2,000 lanes that succeed after 4.9 s',
    { lanes: 2_000, perAccount: 1, receiver: succeedsAfter(4_900), backlog: 20 },
  ],
  [
    '8 accounts with 20 lanes each that succeed after 4.9 s',
    { lanes: 160, perAccount: 20, receiver: succeedsAfter(4_900), backlog: 60 },
  ],
  ['400 lanes that flap between 0.3 s and 5 s', { lanes: 400, perAccount: 1, receiver: flaps, backlog: 200 }],
  ['1,000 lanes that hang', { lanes: 1_000, perAccount: 1, receiver: hangs, backlog: 20 }],
  [
    '2,000 lanes that hang for 15 s',
    { lanes: 2_000, perAccount: 1, receiver: hangsLongest, backlog: 20, warmUpMs: 32_000 },
  ],
];

describe('20 healthy lanes with 20 events a second each and 2,000 slots', () => {
  let alone: Waits;
  beforeAll(async () => {
    alone = await measureWaits({ lanes: 0, perAccount: 1, receiver: hangs, backlog: 0 });
  });

  test.each(neighbors)('wait no longer next to %s', async (_, given) => {
    const waits = await measureWaits(given);
    expect(waits.p50).toBe(0);
    expect(waits.p99).toBeLessThanOrEqual(1.2 * alone.p99);
    expect(waits.responseP99).toBeLessThanOrEqual(1.2 * alone.responseP99);
  });
});

test('a healthy lane does not wait after a restart beside lanes that hung before, however many they are', async () => {
  const world = new World({ slots: 100 });
  const timeMs = world.clock.nowMs() - 60_000;
  const hasFailed = { ...cleanLaneState, consecutiveFailures: 1, failingSinceMs: timeMs, lastFailureMs: timeMs };
  for (let lane = 0; lane < 200; lane += 1) {
    const id = world.addLane(1_000 + lane, hangs);
    world.changeTarget(id, { state: hasFailed });
    world.store(id, 5);
    world.dispatcher.openLane(id);
  }
  await world.clock.advance(1_000);
  expect(world.dispatcher.stats().inFlight).toBeGreaterThan(50);
  const healthy = world.addLane(1, succeedsAfter(20));
  world.offer(healthy, 1);
  await world.clock.advance(100);
  expect(world.sentTo(healthy)).toHaveLength(1);
});

test('a lane with history does not wait beside more lanes without history than there are slots, all of which hang', async () => {
  const world = new World({ slots: 100 });
  const healthy = world.addLane(1, succeedsAfter(20));
  world.offer(healthy, 1);
  await world.clock.advance(1_000);
  const others = world.addLanes(150, hangs, 1_000);
  world.dispatcher.offer(others.flatMap((lane) => world.store(lane, 5)));
  await world.clock.advance(1_000);
  expect(world.dispatcher.stats().inFlight).toBe(75);
  world.offer(healthy, 1);
  await world.clock.advance(100);
  expect(world.sentTo(healthy)).toHaveLength(2);
});
