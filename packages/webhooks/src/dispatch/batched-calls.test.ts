import { LockTimeoutError, StoreUnavailableError } from '@deedwire/store';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../test/dispatch/virtual-clock.ts';
import { BatchedCalls } from './batched-calls.ts';

interface Calls {
  clock: VirtualClock;
  calls: BatchedCalls<number, string>;
  made: number[][];
  done: number[];
  refused: number[];
  locked: number[];
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
    locked: [],
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
      onLocked: (item) => void seen.locked.push(item),
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

test('splits items into batches of at most the maximum size', async () => {
  const seen = createCalls(() => {});
  addAll(seen, 250);
  await seen.clock.advance(100);
  expect(seen.made.map((items) => items.length)).toEqual([100, 100, 50]);
});

describe('a refused batch', () => {
  test.each([1, 2, 3, 64, 100])('of %i finds its refused item with at most 2 · log2(n) + 1 calls', async (size) => {
    for (const bad of new Set([0, size >> 1, size - 1])) {
      const seen = createCalls((items) => {
        if (items.includes(bad)) throw new RangeError('Refused.');
      });
      addAll(seen, size);
      await seen.clock.advance(10_000);
      expect(seen.refused).toEqual([bad]);
      expect(seen.done).toEqual(Array.from({ length: size }, (_, item) => item).filter((item) => item !== bad));
      expect(seen.made.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(size)) + 1);
    }
  });

  test('with many refused items finds all of them', async () => {
    const seen = createCalls((items) => {
      if (items.some((item) => item % 3 === 0)) throw new RangeError('Refused.');
    });
    addAll(seen, 30);
    await seen.clock.advance(10_000);
    expect(seen.refused).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    expect(seen.done).toHaveLength(20);
  });
});

describe('a locked batch', () => {
  const lockError = new LockTimeoutError(new Error('canceling statement due to lock timeout'));

  test('is bisected to the locked item, which is retried without delaying the others', async () => {
    let isLocked = true;
    const seen = createCalls((items) => {
      if (isLocked && items.includes(7)) throw lockError;
    });
    addAll(seen, 64);
    await seen.clock.advance(1_000);
    expect(seen.done).toHaveLength(63);
    expect(seen.locked).toEqual([7]);
    addAll(seen, 5);
    await seen.clock.advance(60_000);
    expect(seen.done).toHaveLength(68);
    const alone = seen.made.filter((items) => String(items) === '7').length;
    expect(alone).toBeGreaterThan(28);
    expect(alone).toBeLessThan(40);
    isLocked = false;
    await seen.clock.advance(2_100);
    expect(seen.done.filter((item) => item === 7)).toEqual([7]);
    expect(seen.refused).toEqual([]);
    expect(seen.unavailable).toBe(0);
  });

  test('with many locked items retries each of them separately', async () => {
    let lockedBelow = 10;
    const seen = createCalls((items) => {
      if (items.some((item) => item < lockedBelow)) throw lockError;
    });
    addAll(seen, 20);
    await seen.clock.advance(1_000);
    lockedBelow = 5;
    await seen.clock.advance(5_000);
    expect(seen.done.toSorted((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    lockedBelow = 0;
    await seen.clock.advance(5_000);
    expect(seen.done).toHaveLength(20);
    expect(seen.clock.timers).toBe(0);
  });

  test('without its locked items is one call if the call skips them, and they are repeated together', async () => {
    const clock = new VirtualClock();
    const [made, done, found]: [number[], number[], number[]] = [[], [], []];
    let lockedBelow = 16;
    const calls = new BatchedCalls<number, string>({
      clock,
      collectMs: 3,
      itemsMax: 100,
      async call(items) {
        made.push(items.length);
        await clock.wait(10);
        return 'result';
      },
      isLocked: (item) => item < lockedBelow,
      onDone: (items) => void done.push(...items),
      onRefused: () => {},
      onLocked: (item) => void found.push(item),
      onUnavailable: () => {},
      onResumed: () => {},
    });
    for (let item = 0; item < 64; item += 1) calls.add(item);
    await clock.advance(40);
    expect(made).toEqual([64]);
    expect(done).toHaveLength(48);
    await clock.advance(5_000);
    expect(new Set(made.slice(1))).toEqual(new Set([16]));
    lockedBelow = 0;
    await clock.advance(5_000);
    expect(done).toHaveLength(64);
    expect(found).toHaveLength(16);
    expect(clock.timers).toBe(0);
  });

  test('keeps the locked item while storage is unavailable', async () => {
    let error: Error | null = lockError;
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

  test('reports a locked item that is refused later', async () => {
    let error: Error = lockError;
    const seen = createCalls(() => {
      throw error;
    });
    addAll(seen, 1);
    await seen.clock.advance(1_000);
    error = new RangeError('Refused.');
    await seen.clock.advance(5_000);
    expect(seen.refused).toEqual([0]);
    expect(seen.clock.timers).toBe(0);
  });
});

describe('unavailable storage', () => {
  test('repeats the same batch with growing delays, up to 2 s', async () => {
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

  test('does not lose the other half of a refused batch', async () => {
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
});

describe('an item that is added while the repetition of locked ones waits for storage', () => {
  test.each([false, true])('is recorded, and so are they (urgent: %s)', async (isUrgent) => {
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
  });
});
