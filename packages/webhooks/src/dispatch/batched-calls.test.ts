import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../test/dispatch/virtual-clock.ts';
import { BatchedCalls } from './batched-calls.ts';

interface Calls {
  clock: VirtualClock;
  calls: BatchedCalls<number, string>;
  made: number[][];
  done: number[];
  refused: number[];
  unavailable: number;
  resumed: number;
}

function createCalls(call: (items: readonly number[]) => void, callMs = 10): Calls {
  const clock = new VirtualClock();
  const seen: Calls = {
    clock,
    made: [],
    done: [],
    refused: [],
    unavailable: 0,
    resumed: 0,
    calls: new BatchedCalls<number, string>({
      clock,
      collectMs: 3,
      itemsMax: 100,
      async call(items) {
        seen.made.push([...items]);
        await clock.wait(callMs);
        call(items);
        return 'result';
      },
      onDone: (items) => void seen.done.push(...items),
      onRefused: (item) => void seen.refused.push(item),
      onLocked: () => {},
      onUnavailable: () => void (seen.unavailable += 1),
      onResumed: () => void (seen.resumed += 1),
    }),
  };
  return seen;
}

const addAll = ({ calls }: Calls, count: number): void => {
  for (let item = 0; item < count; item += 1) calls.add(item);
};

test('collects items for 3 ms, and items that arrive during a call for the next call', async () => {
  const seen = createCalls(() => {});
  addAll(seen, 2);
  seen.clock.setTimer(() => seen.calls.add(2), 5);
  seen.clock.setTimer(() => seen.calls.add(3), 6);
  await seen.clock.advance(100);
  expect(seen.made).toEqual([
    [0, 1],
    [2, 3],
  ]);
  expect(seen.done).toEqual([0, 1, 2, 3]);
});

test('collects an urgent item for 1 ms, with the items before it, and so after a call', async () => {
  const seen = createCalls(() => {});
  seen.calls.add(0);
  seen.clock.setTimer(() => seen.calls.add(1, true), 1);
  await seen.clock.advance(1.5);
  expect(seen.made).toEqual([]);
  await seen.clock.advance(0.5);
  expect(seen.made).toEqual([[0, 1]]);
  // During the call, which takes 10 ms.
  seen.calls.add(2);
  seen.calls.add(3, true);
  await seen.clock.advance(10 + 1);
  expect(seen.made).toEqual([
    [0, 1],
    [2, 3],
  ]);
  seen.calls.add(4);
  await seen.clock.advance(10 + 2.5);
  expect(seen.made).toHaveLength(2);
  await seen.clock.advance(1);
  expect(seen.made).toHaveLength(3);
});

test('keeps a locked item while storage is unavailable', async () => {
  let error: Error | null = new LockTimeoutError(new Error('canceling statement due to lock timeout'));
  const seen = createCalls(() => {
    if (error !== null) throw error;
  });
  addAll(seen, 1);
  await seen.clock.advance(1_000);
  error = new StoreUnavailableError(new Error('down'));
  await seen.clock.advance(5_000);
  error = null;
  await seen.clock.advance(5_000);
  expect(seen.done).toEqual([0]);
});

test('repeats the same batch with growing delays, up to 2 s, while storage is unavailable', async () => {
  let isUnavailable = true;
  const seen = createCalls(() => {
    if (isUnavailable) throw new StoreUnavailableError(new Error('down'));
  }, 1);
  addAll(seen, 3);
  await seen.clock.advance(60_000);
  expect(seen.unavailable).toBeGreaterThan(28);
  expect(seen.unavailable).toBeLessThan(40);
  expect(seen.resumed).toBe(0);
  expect(new Set(seen.made.map(String))).toEqual(new Set(['0,1,2']));
  isUnavailable = false;
  await seen.clock.advance(2_100);
  expect(seen.done).toEqual([0, 1, 2]);
  expect(seen.refused).toEqual([]);
  expect(seen.resumed).toBe(1);
});

test('leaves no timer after it is stopped', async () => {
  const seen = createCalls(() => {
    throw new StoreUnavailableError(new Error('down'));
  });
  addAll(seen, 3);
  await seen.clock.advance(20);
  seen.calls.stop();
  seen.calls.add(4);
  await seen.clock.advance(10_000);
  expect(seen.made).toHaveLength(1);
  expect(seen.clock.timers).toBe(0);
});

test('unavailable storage does not lose the other half of a refused batch', async () => {
  let calls = 0;
  const seen = createCalls((items) => {
    calls += 1;
    if (calls > 1 && calls < 5) throw new StoreUnavailableError(new Error('down'));
    if (items.includes(1)) throw new RangeError('Refused.');
  });
  addAll(seen, 4);
  await seen.clock.advance(10_000);
  expect(seen.refused).toEqual([1]);
  expect(seen.done).toEqual([0, 2, 3]);
});

test.each([false, true])(
  'an item that is added while the repetition of locked ones waits for storage is recorded, and so are they (urgent: %s)',
  async (isUrgent) => {
    const clock = new VirtualClock();
    const done: string[] = [];
    let made = 0;
    const calls = new BatchedCalls<string, boolean>({
      clock,
      collectMs: 10,
      itemsMax: 100,
      async call() {
        made += 1;
        await clock.wait(2);
        if (made === 2) throw new StoreUnavailableError(new Error('down'));
        return made === 1;
      },
      isLocked: (_, isFirst) => isFirst,
      onDone: (items) => void done.push(...items),
      onRefused: () => {},
      onLocked: () => {},
      onUnavailable: () => void clock.setTimer(() => calls.add('c', isUrgent), 1),
      onResumed: () => {},
    });
    calls.add('a');
    calls.add('b');
    await clock.advance(60_000);
    expect(done.toSorted()).toEqual(['a', 'b', 'c']);
  },
);
