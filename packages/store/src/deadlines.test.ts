import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines } from './deadlines.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('reports what does not end in time, once, and nothing else', () => {
  const deadlines = new Deadlines(100);
  const late: string[] = [];
  const start = (name: string) => deadlines.start(() => late.push(name));
  const first = start('first');
  vi.advanceTimersByTime(40);
  start('second');
  const third = start('third');
  vi.advanceTimersByTime(40);
  start('fourth');
  deadlines.end(third);
  deadlines.end(first);
  vi.advanceTimersByTime(59);
  expect(late).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(late).toEqual(['second']);
  deadlines.end(first);
  vi.advanceTimersByTime(1_000);
  expect(late).toEqual(['second', 'fourth']);
});

test('starts what a report starts', () => {
  const deadlines = new Deadlines(100);
  const late: string[] = [];
  deadlines.start(() => {
    late.push('first');
    deadlines.start(() => late.push('second'));
  });
  vi.advanceTimersByTime(199);
  expect(late).toEqual(['first']);
  vi.advanceTimersByTime(1);
  expect(late).toEqual(['first', 'second']);
});

test('needs one timer for all of them, and none after them', () => {
  const deadlines = new Deadlines(100);
  for (let count = 0; count < 50; count += 1) deadlines.end(deadlines.start(() => {}));
  for (let count = 0; count < 50; count += 1) deadlines.start(() => {});
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(200);
  expect(vi.getTimerCount()).toBe(0);
});
