import { seededRandom } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { formatDateTime, parseDateTime } from './date-time.ts';

test.each([
  ['2026-11-01T09:30:00.000Z', '2026-11-01T09:30:00.000Z'],
  ['2026-11-01T09:30:00Z', '2026-11-01T09:30:00.000Z'],
  ['2026-11-01T09:30:00.123456789Z', '2026-11-01T09:30:00.123Z'],
  ['2026-11-01T09:30:00.5+05:30', '2026-11-01T04:00:00.500Z'],
  ['2028-02-29T23:59:59-01:00', '2028-03-01T00:59:59.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['2026-11-01T09:30:00.1239999999999999999999Z', '2026-11-01T09:30:00.123Z'],
  ['2026-11-01t09:30:00.5z', '2026-11-01T09:30:00.500Z'],
])('parses %s', (text, expected) => {
  expect(parseDateTime(text).toISOString()).toBe(expected);
});

test.each([
  ['2026-11-01', '"2026-11-01"'],
  ['2026-11-01T09:30:00', '"2026-11-01T09:30:00"'],
  ['2026-11-01 09:30:00Z', '"2026-11-01 09:30:00Z"'],
  ['2026-02-29T00:00:00Z', '"2026-02-29T00:00:00Z"'],
  ['2026-13-01T00:00:00Z', '"2026-13-01T00:00:00Z"'],
  ['2026-11-01T24:00:00Z', '"2026-11-01T24:00:00Z"'],
  ['2026-11-01T09:30:00+24:00', '"2026-11-01T09:30:00+24:00"'],
  [1_793_525_400, 'a number'],
  [{}, 'an object'],
])('rejects %s', (value, found) => {
  expect(() => parseDateTime(value)).toThrow(
    `A DateTime is an RFC 3339 string with an offset, for example "2026-11-01T09:30:00.000Z"; found ${found}.`,
  );
});

test('formats times as toISOString does', () => {
  const random = seededRandom(20_261_122);
  const days = Array.from({ length: 5 }, () => Math.floor(random() * 4e12));
  const known = [0, -1, 86_399_999, 86_400_000, 253_402_300_800_000, -62_198_755_200_000];
  const times = Array.from(
    { length: 10_000 },
    () => (days[Math.floor(random() * 5)] ?? 0) + Math.floor(random() * 9e7),
  );
  for (const ms of [...known, ...times]) {
    const time = new Date(ms);
    expect(formatDateTime(time)).toBe(time.toISOString());
  }
  expect(() => formatDateTime(new Date(Number.NaN))).toThrow(RangeError);
});
