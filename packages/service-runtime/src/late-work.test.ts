import { testService } from '@deedwire/core/test-service';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { doLater, doWaitingWork } from './late-work.ts';
import { createLogger, logAt } from './logger.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('does work within 10 ms, all of it in its order', () => {
  const done: number[] = [];
  doLater(() => done.push(1));
  vi.advanceTimersByTime(9);
  doLater(() => done.push(2));
  expect(done).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(done).toEqual([1, 2]);
  expect(vi.getTimerCount()).toBe(0);
});

test('does not let more than 64 works wait', () => {
  let done = 0;
  for (let count = 0; count < 63; count += 1) doLater(() => (done += 1));
  expect(done).toBe(0);
  doLater(() => (done += 1));
  expect(done).toBe(64);
  expect(vi.getTimerCount()).toBe(0);
});

test('does the waiting work when it is asked to', () => {
  const done: number[] = [];
  doLater(() => done.push(1));
  doWaitingWork();
  expect(done).toEqual([1]);
  vi.advanceTimersByTime(100);
  expect(done).toEqual([1]);
});

test('a line that is written later has the time of what it is about', () => {
  vi.setSystemTime('2026-11-01T10:00:00.123Z');
  const lines: { time: string }[] = [];
  const logger = createLogger(
    { name: 'test', level: 'info', service: testService },
    { write: (line) => lines.push(JSON.parse(line)) },
  );
  const atMs = Date.now();
  doLater(() => logAt(atMs, () => logger.info('late')));
  vi.advanceTimersByTime(10);
  logger.info('now');
  expect(lines.map(({ time }) => time)).toEqual(['2026-11-01T10:00:00.123Z', '2026-11-01T10:00:00.133Z']);
});
