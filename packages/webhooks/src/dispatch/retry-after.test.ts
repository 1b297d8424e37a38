import { expect, test } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

const nowMs = Date.parse('2026-11-20T08:00:00Z');

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Fri, 20 Nov 2026 08:01:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 07:00:00 GMT', 0],
])('parses %s', (value, expected) => {
  expect(parseRetryAfter(value, nowMs)).toBe(expected);
});

test.each([null, '', '-1', '1.5', 'soon', '2026-11-20', '1'.repeat(400), 'Fri, 99 Nov 2026 08:01:00 GMT'])(
  'returns null for %s',
  (value) => {
    expect(parseRetryAfter(value, nowMs)).toBeNull();
  },
);
