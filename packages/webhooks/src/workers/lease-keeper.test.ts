import type { Store } from '@deedwire/store';
import { beforeEach, expect, test } from 'vitest';
import type { WorkerId } from '../fence/fence.ts';
import { LeaseKeeper } from './lease-keeper.ts';

interface Renewal {
  respond: (rows: object[]) => void;
  fail: (error: Error) => void;
}

let renewals: Renewal[];
let timers: { callback: () => void; delayMs: number }[];
let deaths: number;
let keeper: LeaseKeeper;

const store: Pick<Store, 'query'> = {
  query: (() => new Promise<object[]>((respond, fail) => void renewals.push({ respond, fail }))) as Store['query'],
};

/** Runs the timer that is due next, and what follows from it. */
async function tick(): Promise<number> {
  const timer = timers.shift();
  timer?.callback();
  await settled();
  return timer?.delayMs ?? -1;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  [renewals, timers, deaths] = [[], [], 0];
  keeper = new LeaseKeeper({
    store: store as Store,
    clock: {
      setTimer: (callback, delayMs) => {
        const timer = { callback, delayMs };
        timers.push(timer);
        return () => (timers = timers.filter((other) => other !== timer));
      },
    },
    workerId: '1' as WorkerId,
    leaseMs: 15_000,
    renewMs: 5_000,
    isStalled: () => false,
    onDead: () => (deaths += 1),
    onFailed: () => {},
    onResumed: () => {},
  });
});

test('renews again while a renewal has no response, but has at most two in flight', async () => {
  await tick();
  await tick();
  expect(renewals).toHaveLength(2);
  await tick();
  expect(renewals).toHaveLength(2);
  renewals[0]?.fail(new Error('timeout'));
  await settled();
  await tick();
  expect(renewals).toHaveLength(3);
});

test('retries a failed renewal earlier', async () => {
  await tick();
  renewals[0]?.fail(new Error('unavailable'));
  await settled();
  expect(await tick()).toBe(1_000);
  expect(renewals).toHaveLength(2);
});

test('reports once that the worker was declared dead', async () => {
  await tick();
  await tick();
  renewals[0]?.respond([]);
  renewals[1]?.respond([]);
  await settled();
  expect(deaths).toBe(1);
  expect(timers).toEqual([]);
});

test('stops after the renewals in flight', async () => {
  await tick();
  let isDone = false;
  const stopped = keeper.stop().then(() => (isDone = true));
  await settled();
  expect(isDone).toBe(false);
  renewals[0]?.respond([]);
  await stopped;
  expect([deaths, timers]).toEqual([0, []]);
});
