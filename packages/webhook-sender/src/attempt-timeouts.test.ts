import { oldBytesOf } from '@deedwire/testing/old-generation';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAttemptTimeouts } from './attempt-timeouts.ts';

const timeoutMs = 5000;
let expired: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  expired = [];
});

afterEach(() => {
  // In this order: a spy on the fake setTimeout would otherwise put it back for the later files of this process.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function start(deadlines: ReturnType<typeof createAttemptTimeouts>, name: string) {
  return deadlines.start(performance.now(), timeoutMs, () => expired.push(name));
}

it('expires each deadline when its time has passed, in order', () => {
  const deadlines = createAttemptTimeouts();
  start(deadlines, 'a');
  vi.advanceTimersByTime(1);
  start(deadlines, 'b');
  vi.advanceTimersByTime(999);
  start(deadlines, 'c');
  vi.advanceTimersByTime(3999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['a']);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['a', 'b']);
  vi.advanceTimersByTime(998);
  expect(expired).toEqual(['a', 'b']);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['a', 'b', 'c']);
});

it('does not expire a canceled deadline, whether it is the first, in the middle or the last', () => {
  const deadlines = createAttemptTimeouts();
  const started = ['a', 'b', 'c', 'd', 'e'].map((name) => {
    vi.advanceTimersByTime(100);
    return start(deadlines, name);
  });
  for (const index of [0, 2, 4, 2]) started[index]?.cancel();
  vi.advanceTimersByTime(4799);
  expect(expired).toEqual(['b']);
  vi.advanceTimersByTime(101);
  expect(expired).toEqual(['b', 'd']);
  started[1]?.cancel();
  vi.advanceTimersByTime(10_000);
  expect(expired).toEqual(['b', 'd']);
});

it('expires deadlines that start after all others have ended', () => {
  const deadlines = createAttemptTimeouts();
  start(deadlines, 'a').cancel();
  vi.advanceTimersByTime(4000);
  start(deadlines, 'b');
  vi.advanceTimersByTime(4999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['b']);
  vi.advanceTimersByTime(20_000);
  start(deadlines, 'c');
  vi.advanceTimersByTime(5000);
  expect(expired).toEqual(['b', 'c']);
});

it('allows a deadline to start or to be canceled while others expire', () => {
  const deadlines = createAttemptTimeouts();
  deadlines.start(performance.now(), timeoutMs, () => {
    second.cancel();
    start(deadlines, 'third');
  });
  const second = start(deadlines, 'second');
  vi.advanceTimersByTime(5000);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(5000);
  expect(expired).toEqual(['third']);
});

it('expires deadlines of several durations, each when its own time has passed', () => {
  const deadlines = createAttemptTimeouts();
  for (const [name, ms] of Object.entries({ long: 15_000, short: 5_000, middle: 7_000 }))
    deadlines.start(performance.now(), ms, () => expired.push(name));
  vi.advanceTimersByTime(4_999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['short']);
  vi.advanceTimersByTime(2_000);
  expect(expired).toEqual(['short', 'middle']);
  vi.advanceTimersByTime(7_999);
  expect(expired).toEqual(['short', 'middle']);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['short', 'middle', 'long']);
});

it('uses one timer for each duration, which keeps the process alive only while a deadline is pending', () => {
  const deadlines = createAttemptTimeouts();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const [first, second] = [start(deadlines, 'a'), start(deadlines, 'b')];
  const timer = timers.mock.results[0]?.value;
  expect(timer?.hasRef()).toBe(true);
  first.cancel();
  expect(timer?.hasRef()).toBe(true);
  second.cancel();
  expect(timer?.hasRef()).toBe(false);
  start(deadlines, 'c');
  expect(timer?.hasRef()).toBe(true);
  expect(timers).toHaveBeenCalledTimes(1);
});

it('keeps nothing of an attempt that has ended, and needs no full collection for that', async () => {
  // Of 20 MB. With entries that still refer to the next one: 19 MB.
  expect(await oldBytesOf(new URL('../test/support/old-bytes.ts', import.meta.url))).toBeLessThan(1_000_000);
});
