import { expect, test } from 'vitest';
import { waitAfter } from './retry-after.ts';

const nowMs = Date.parse('2026-11-29T12:00:00Z');

test.each([
  ['60', 60_000],
  ['0', 2_000],
  ['1', 2_000],
  ['86400', 900_000],
  ['9'.repeat(400), 900_000],
  ['Sun, 29 Nov 2026 12:01:00 GMT', 60_000],
  ['Sun, 29 Nov 2026 11:00:00 GMT', 2_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 900_000],
  ['Sun, 99 Nov 2026 12:01:00 GMT', null],
  ['5, 10', null],
  ['5, Sun, 29 Nov 2026 12:01:00 GMT', null],
  ['soon', null],
  ['word 5', null],
  ['2026-11-29T12:01:00Z', null],
  ['1.5', null],
  ['1e3', null],
  ['', null],
  ['-1', null],
])('waits after "%s"', (value, waitMs) => {
  expect(waitAfter(value, 0, nowMs, 0)).toBe(waitMs);
});

test('waits longer after each refusal in a row, up to a minute, and never less than the server names', () => {
  const waits = (value: string) => [0, 1, 2, 3, 4, 5, 6, 99].map((refusals) => waitAfter(value, refusals, nowMs, 0));
  expect(waits('0')).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 64_000, 64_000]);
  expect(waits('10')).toEqual([10_000, 10_000, 10_000, 16_000, 32_000, 64_000, 64_000, 64_000]);
  expect(waitAfter('10', 0, nowMs, 1)).toBe(12_500);
});
