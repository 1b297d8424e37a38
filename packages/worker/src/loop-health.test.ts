import type { EngineEvent, WorkerId } from '@deedwire/webhooks';
import { beforeEach, expect, test } from 'vitest';
import { LoopHealth, type LoopName } from './loop-health.ts';

let nowMs: number;
let failures: LoopName[];
let loops: LoopHealth;

beforeEach(() => {
  nowMs = 0;
  failures = [];
  loops = new LoopHealth({ limitMs: 60_000, nowMs: () => nowMs, onFailed: (loop) => failures.push(loop) });
});

function failUntil(endMs: number, loop: LoopName): void {
  for (; nowMs <= endMs; nowMs += 5_000) loops.failed(loop);
}

test('a loop that has failed for a minute is a problem until it succeeds', () => {
  failUntil(55_000, 'discover');
  expect(loops.problems()).toEqual([]);
  failUntil(60_000, 'discover');
  expect(loops.problems()).toEqual(['the loop discover has failed for more than 60 s; see the log']);
  expect(failures).toHaveLength(13);
  loops.engineEvent({ kind: 'loop-resumed', loop: 'discover' });
  expect(loops.problems()).toEqual([]);
  failUntil(nowMs + 55_000, 'discover');
  expect(loops.problems()).toEqual([]);
});

test('a loop that succeeds between its failures is no problem', () => {
  for (let round = 0; round < 20; round += 1) {
    failUntil(nowMs + 30_000, 'settle');
    loops.succeeded('settle');
  }
  expect(loops.problems()).toEqual([]);
});

test('a worker that was declared dead is well when it has registered again', () => {
  for (const loop of ['lease', 'refill', 'change', 'retention'] as const) {
    nowMs = 0;
    failUntil(60_000, loop);
  }
  loops.engineEvent({ kind: 'worker-registered', workerId: '2' as WorkerId });
  expect(loops.problems()).toEqual(['the loop retention has failed for more than 60 s; see the log']);
});

test('failures are forgotten if the loop had nothing to do afterwards', () => {
  failUntil(60_000, 'refill');
  nowMs += 150_000;
  expect(loops.problems()).toEqual([]);
  loops.failed('refill');
  expect(loops.problems()).toEqual([]);
});

const error = new Error('The database is not available.');

test.each<[EngineEvent, LoopName]>([
  [{ kind: 'storage-unavailable', call: 'countClaims', error }, 'countClaims'],
  [{ kind: 'fan-out-unavailable', call: 'discover', error }, 'discover'],
  [{ kind: 'renewal-failed', error }, 'lease'],
  [{ kind: 'sharing-failed', error }, 'sharing'],
  [{ kind: 'shard-unreadable', shard: 3, error }, 'shards'],
  [{ kind: 'backlog-unavailable', error }, 'backlog'],
  [{ kind: 'replay-unavailable', error }, 'replays'],
  [{ kind: 'retention-failed', error }, 'retention'],
])('counts %j', (event, loop) => {
  loops.engineEvent(event);
  expect(failures).toEqual([loop]);
});

test('a written round ends the failures of rounds', () => {
  const failed: EngineEvent = { kind: 'fan-out-unavailable', call: 'round', error };
  for (; nowMs <= 60_000; nowMs += 2_000) loops.engineEvent(failed);
  expect(loops.problems()).toHaveLength(1);
  loops.engineEvent({ kind: 'fanned-out', round: 'express', entries: 1, deliveries: 1, failed: 0 });
  expect(loops.problems()).toEqual([]);
});

test.each(['prepare', 'check'] as const)('a failed %s, which holds nothing up, is no loop', (call) => {
  loops.engineEvent({ kind: 'fan-out-unavailable', call, error });
  expect(failures).toEqual([]);
});
