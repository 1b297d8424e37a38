import { expect, test } from 'vitest';
import { attemptsMax, readRetryAfter, retryDelayMs } from './retry-delay.ts';

const second = 1_000;
const hour = 3_600 * second;

test('the published schedule, without jitter', () => {
  const delays = Array.from({ length: attemptsMax - 1 }, (_, index) => retryDelayMs(index + 1, null, 0) / second);
  expect(delays).toEqual([5, 15, 45, 135, 405, 1215, 3645, 10_935, 32_805, 43_200, 43_200, 43_200, 43_200, 43_200]);
  const days = delays.reduce((sum, seconds) => sum + seconds, 0) / 86_400;
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(3.2);
});

test('jitter adds up to a fifth', () => {
  expect(retryDelayMs(1, null, 0.5)).toBe(5_500);
  expect(retryDelayMs(1, null, 0.999_999)).toBe(6_000);
});

test('a receiver can ask for more, up to 12 hours, never for less', () => {
  expect(retryDelayMs(1, 60 * second, 0)).toBe(60 * second);
  expect(retryDelayMs(4, 60 * second, 0)).toBe(135 * second);
  expect(retryDelayMs(1, 1_000 * hour, 0)).toBe(12 * hour);
});

const now = new Date('2026-11-20T08:00:00Z');

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Fri, 20 Nov 2026 08:01:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 07:00:00 GMT', 0],
])('Retry-After: %s', (value, expected) => {
  expect(readRetryAfter(value, now)).toBe(expected);
});

test.each([null, '', '-1', '1.5', 'soon', '2026-11-20', '1'.repeat(400), 'Fri, 99 Nov 2026 08:01:00 GMT'])(
  'Retry-After that says nothing: %s',
  (value) => {
    expect(readRetryAfter(value, now)).toBeNull();
  },
);
