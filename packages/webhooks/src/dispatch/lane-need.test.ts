import { expect, test } from 'vitest';
import { accountId, subscriptionId } from '../../test/dispatch/ids.ts';
import { World } from '../../test/dispatch/world.ts';
import { type LaneNeed, laneNeed } from './lane-need.ts';
import { LaneQueue } from './lane-queue.ts';
import { Account, Lane, QueuedDelivery } from './lane.ts';

const world = new World();
const id = world.addLane(1, () => ({ afterMs: 1, status: 200 }));
const target = world.storage.targetOf(id.subscriptionId);
const nowMs = 100_000;

/** An open lane that needs nothing but a slot. */
function readyLane(claims = 0): Lane {
  const lane = new Lane(subscriptionId(1), new Account(accountId(1)), 5_000);
  const [delivery] = world.makeDeliveries(id, 1, { claims });
  if (delivery === undefined || target === null) throw new Error('No delivery or no target.');
  lane.openEmpty();
  lane.useTarget(target, nowMs, 0);
  lane.queue.add(new QueuedDelivery(lane, delivery, nowMs));
  return lane;
}

/** Its deliveries are in storage only. */
function storeDeliveries(lane: Lane, dueAtMs: number): void {
  lane.queue.removeFirst();
  lane.source.noteLeft(dueAtMs);
}

/** It has a hastened delivery, and one in storage only. */
function hasten(lane: Lane, dueAtMs = nowMs + 60_000): void {
  storeDeliveries(lane, dueAtMs);
  const [delivery] = world.makeDeliveries(id, 1);
  if (delivery !== undefined)
    (lane.hastened ??= new LaneQueue()).add(new QueuedDelivery(lane, delivery, nowMs + 60_000, true));
}

const succeeds = (lane: Lane, durationMs = 10): void => lane.receiver.recordAttempt(durationMs, true, null, nowMs);
const fails = (lane: Lane, atMs = nowMs): void => lane.receiver.recordAttempt(10, false, null, atMs);
const failsTenTimes = (lane: Lane, atMs: number): void => {
  for (let failure = 0; failure < 10; failure += 1) fails(lane, atMs);
};

test.each<[string, LaneNeed, (lane: Lane) => void, number?]>([
  ['is ready', 'slot', () => {}],
  ['is closed', 'nothing', (lane) => lane.close()],
  ['is pausing', 'nothing', (lane) => lane.beginPause()],
  ['has its window in flight', 'nothing', (lane) => (lane.inFlight = 1)],
  ['has room in its window', 'slot', (lane) => succeeds(Object.assign(lane, { inFlight: 1 }))],
  ['has 64 deliveries unsettled', 'nothing', (lane) => (lane.unsettled = 64)],
  [
    'has 16 deliveries set aside',
    'nothing',
    (lane) => {
      for (const delivery of world.makeDeliveries(id, 16)) lane.setAside(new QueuedDelivery(lane, delivery, nowMs));
    },
  ],
  ['has an empty queue and nothing in storage', 'nothing', (lane) => lane.queue.removeFirst()],
  ['has deliveries in storage only', 'deliveries', (lane) => storeDeliveries(lane, nowMs)],
  ['has deliveries in storage that are due later', 'time', (lane) => storeDeliveries(lane, nowMs + 1)],
  [
    'is being refilled',
    'nothing',
    (lane) => {
      storeDeliveries(lane, nowMs);
      lane.source.startRefill();
    },
  ],
  ['has a hastened delivery', 'slot', (lane) => hasten(lane)],
  ['has a hastened delivery, and one in storage that is due', 'deliveries', (lane) => hasten(lane, nowMs)],
  [
    'has a hastened delivery, and reads one that is due',
    'slot',
    (lane) => {
      hasten(lane, nowMs);
      lane.source.startRefill();
    },
  ],
  [
    'may probe with a hastened delivery, and reads one that is due',
    'nothing',
    (lane) => {
      hasten(lane, nowMs);
      lane.source.startRefill();
      failsTenTimes(lane, nowMs - 5_000);
    },
  ],
  ['was changed', 'target', (lane) => lane.reread()],
  ['has a target that was read 5 s ago', 'target', (lane) => target && lane.useTarget(target, nowMs - 5_000, 0)],
  ['is blocked', 'time', (lane) => lane.blockUntil(nowMs + 1)],
  ['is held by Retry-After', 'time', (lane) => lane.receiver.recordAttempt(10, false, 1, nowMs)],
  ['has an open breaker', 'time', (lane) => failsTenTimes(lane, nowMs)],
  ['may probe', 'slot', (lane) => failsTenTimes(lane, nowMs - 5_000)],
  ['is probing', 'nothing', (lane) => failsTenTimes(Object.assign(lane, { inFlight: 1 }), nowMs - 5_000)],
  ['is recovering', 'count', (lane) => lane.takeOver()],
  [
    'is counting',
    'nothing',
    (lane) => {
      lane.takeOver();
      lane.countCall.start();
    },
  ],
  ['is recovering and has an unsettled result', 'nothing', (lane) => Object.assign(lane, { unsettled: 1 }).takeOver()],
  ['has a delivery that was claimed twice', 'slot', () => {}, 2],
  ['has a delivery that was claimed three times', 'suspect-run', () => {}, 3],
  ['has a delivery that was claimed five times', 'give-up', () => {}, 5],
])('a lane that %s needs %s', (_, expected, change, claims = 0) => {
  const lane = readyLane(claims);
  change(lane);
  expect(laneNeed(lane, nowMs)).toBe(expected);
});

test('a lane is slow after a request of more than 500 ms, until 20 successes in a row were quicker', () => {
  const lane = readyLane();
  expect(lane.isQuick).toBe(true);
  succeeds(lane, 500);
  fails(lane);
  expect(lane.isQuick).toBe(true);
  succeeds(lane, 501);
  for (let success = 0; success < 19; success += 1) succeeds(lane);
  fails(lane);
  expect(lane.isQuick).toBe(false);
  succeeds(lane);
  expect(lane.isQuick).toBe(true);
});
