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

/** It has a hastened delivery, reads one that is due, and may probe. */
function probesWhileRefilling(lane: Lane): void {
  lane.queue.removeFirst();
  lane.source.noteLeft(nowMs);
  const [delivery] = world.makeDeliveries(id, 1);
  if (delivery !== undefined)
    (lane.hastened ??= new LaneQueue()).add(new QueuedDelivery(lane, delivery, nowMs + 60_000, true));
  lane.source.startRefill();
  for (let failure = 0; failure < 10; failure += 1) fails(lane, nowMs - 5_000);
}

const succeeds = (lane: Lane, durationMs = 10): void => lane.receiver.recordAttempt(durationMs, true, null, nowMs);
const fails = (lane: Lane, atMs = nowMs): void => lane.receiver.recordAttempt(10, false, null, atMs);

// Whatever a dispatcher shows is in dispatcher.*.test.ts.
test.each<[string, LaneNeed, (lane: Lane) => void, number?]>([
  ['has an empty queue and nothing in storage', 'nothing', (lane) => lane.queue.removeFirst()],
  ['may probe with a hastened delivery, and reads one that is due', 'nothing', probesWhileRefilling],
  ['has a delivery that was claimed once', 'slot', () => {}, 1],
  ['has a delivery that was claimed twice', 'suspect-run', () => {}, 2],
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
