import { expect, test } from 'vitest';
import { parseRetryAfter } from './classify-attempt.ts';

const nowMs = Date.parse('2026-11-20T08:00:00Z');

test.each([
  ['120', 120_000],
  ['0', 0],
  ['120 ', 120_000],
  ['\t120', 120_000],
  ['3600, 3600', 3_600_000],
  ['60 ,3600,\t120', 3_600_000],
  ['Fri, 20 Nov 2026 08:01:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 08:01:00 GMT ', 60_000],
  ['Fri, 20 Nov 2026 07:00:00 GMT', 0],
  ['Friday, 20-Nov-26 08:01:00 GMT', 60_000],
  ['Wednesday, 25-Nov-26 08:00:00 GMT', 432_000_000],
  ['Fri Nov 20 08:01:00 2026', 60_000],
  ['Tue Dec  1 08:00:00 2026', 950_400_000],
  ['Fri, 20 Nov 2026 08:01:00 GMT, Fri, 20 Nov 2026 08:01:00 GMT', 60_000],
  ['Friday, 20-Nov-26 08:01:00 GMT, 30', 60_000],
  ['Fri Nov 20 08:01:00 2026, Fri Nov 20 08:02:00 2026', 120_000],
])('parses "%s"', (value, expected) => {
  expect(parseRetryAfter(value, nowMs)).toBe(expected);
});

test.each([
  null,
  '',
  '-1',
  '1.5',
  'soon',
  '2026-11-20',
  '1'.repeat(400),
  'Fri, 99 Nov 2026 08:01:00 GMT',
  'Fri, 20 Nov 2026 08:01:00 +0100',
  'Fri Nov 20 08:01:00 2026 GMT',
  'Fri Nov 99 08:01:00 2026',
  '3600, soon',
  '3600,',
])('returns null for "%s"', (value) => {
  expect(parseRetryAfter(value, nowMs)).toBeNull();
});
