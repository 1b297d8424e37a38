import { expect, test } from 'vitest';
import { attemptsMax, retryDelayMs } from './classify-attempt.ts';

const second = 1_000;
const hour = 3_600 * second;

test('follows the published schedule of about three days', () => {
  const delays = Array.from({ length: attemptsMax - 1 }, (_, index) => retryDelayMs(index + 1, 0, 0) / second);
  expect(delays).toEqual([5, 15, 45, 135, 405, 1215, 3645, 10_935, 32_805, 43_200, 43_200, 43_200, 43_200, 43_200]);
  const days = delays.reduce((sum, seconds) => sum + seconds, 0) / 86_400;
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(3.2);
});

test('adds up to 20 % of jitter', () => {
  expect(retryDelayMs(1, 0, 0.5)).toBe(5_500);
  expect(retryDelayMs(1, 0, 0.999_999)).toBe(6_000);
});

test('waits longer if the receiver asks for it, up to 12 h, but never shorter', () => {
  expect(retryDelayMs(1, 60 * second, 0)).toBe(60 * second);
  expect(retryDelayMs(4, 60 * second, 0)).toBe(135 * second);
  expect(retryDelayMs(1, 1_000 * hour, 0)).toBe(12 * hour);
});
