import { expect, test } from 'vitest';
import { accountId, subscriptionId } from '../../test/dispatch/ids.ts';
import { World } from '../../test/dispatch/world.ts';
import { Account } from './account.ts';
import { afterFailure } from './breaker.ts';
import { type LaneNeed, laneNeed } from './lane-need.ts';
import { cleanLaneState, holdLane } from './lane-state.ts';
import { isSendable } from './lane-target.ts';
import { Lane, QueuedDelivery } from './lane.ts';

const world = new World();
const id = world.addLane(1, () => ({ afterMs: 1, status: 200 }));
const target = world.storage.targetOf(id.subscriptionId);
const nowMs = 100_000;

/** An open lane that needs nothing but a slot. */
function readyLane(claims = 0): Lane {
  const lane = new Lane(subscriptionId(1), new Account(accountId(1)));
  const [delivery] = world.makeDeliveries(id, 1, { claims });
  if (delivery === undefined || target === null || !isSendable(target)) throw new Error('No delivery or no target.');
  lane.queue.add(new QueuedDelivery(lane, delivery, nowMs));
  lane.isOpen = true;
  lane.target = target;
  lane.targetReadAtMs = nowMs;
  return lane;
}

let openState = cleanLaneState;
for (let failure = 0; failure < 10; failure += 1) openState = afterFailure(openState, nowMs - 5_000);

test.each<[string, LaneNeed, (lane: Lane) => void, number?]>([
  ['is ready', 'slot', () => {}],
  ['is closed', 'nothing', (lane) => (lane.isOpen = false)],
  ['has its window in flight', 'nothing', (lane) => (lane.inFlight = 1)],
  ['has room in its window', 'slot', (lane) => Object.assign(lane, { inFlight: 1, window: 2 })],
  ['has 64 deliveries unsettled', 'nothing', (lane) => (lane.unsettled = 64)],
  ['has 16 deliveries set aside', 'nothing', (lane) => (lane.setAside = 16)],
  ['has an empty queue and nothing in storage', 'nothing', (lane) => lane.queue.removeFirst()],
  [
    'has deliveries in storage only',
    'deliveries',
    (lane) => {
      lane.queue.removeFirst();
      lane.storedDueAtMs = nowMs;
    },
  ],
  [
    'has deliveries in storage that are due later',
    'time',
    (lane) => {
      lane.queue.removeFirst();
      lane.storedDueAtMs = nowMs + 1;
    },
  ],
  [
    'is being refilled',
    'nothing',
    (lane) => {
      lane.queue.removeFirst();
      lane.storedDueAtMs = nowMs;
      lane.refillCall.start();
    },
  ],
  ['has no target', 'target', (lane) => (lane.target = null)],
  ['has a target that was read 5 s ago', 'target', (lane) => (lane.targetReadAtMs = nowMs - 5_000)],
  ['is blocked', 'time', (lane) => (lane.blockedUntilMs = nowMs + 1)],
  ['is held by Retry-After', 'time', (lane) => (lane.state = holdLane(cleanLaneState, nowMs + 1))],
  ['has an open breaker', 'time', (lane) => (lane.state = { ...openState, breakerOpenUntilMs: nowMs + 1 })],
  ['may probe', 'slot', (lane) => Object.assign(lane, { state: openState, window: 16 })],
  ['is probing', 'nothing', (lane) => Object.assign(lane, { state: openState, window: 16, inFlight: 1 })],
  ['is recovering', 'count', (lane) => (lane.isRecovering = true)],
  ['is counting', 'nothing', (lane) => Object.assign(lane, { isRecovering: true }).countCall.start()],
  [
    'is recovering and has an unsettled result',
    'nothing',
    (lane) => Object.assign(lane, { isRecovering: true, unsettled: 1 }),
  ],
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
  lane.learn(500, true, nowMs);
  lane.learn(10, false, nowMs);
  expect(lane.isQuick).toBe(true);
  lane.learn(501, true, nowMs);
  for (let success = 0; success < 19; success += 1) lane.learn(10, true, nowMs);
  lane.learn(10, false, nowMs);
  expect(lane.isQuick).toBe(false);
  lane.learn(10, true, nowMs);
  expect(lane.isQuick).toBe(true);
});
