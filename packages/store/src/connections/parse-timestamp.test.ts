import { seededRandom } from '@deedwire/testing';
import { types } from 'pg';
import { expect, test } from 'vitest';
import { parseTimestamp } from './parse-timestamp.ts';

test.each([
  ['2026-11-01 09:30:00+00', '2026-11-01T09:30:00.000Z'],
  ['2026-11-01 09:30:00.1+00', '2026-11-01T09:30:00.100Z'],
  ['2026-11-01 09:30:00.05+00', '2026-11-01T09:30:00.050Z'],
  ['2026-11-01 09:30:00.123+00', '2026-11-01T09:30:00.123Z'],
  ['2026-11-01 09:30:00.999999+00', '2026-11-01T09:30:00.999Z'],
  ['2024-02-29 23:59:59.5+00', '2024-02-29T23:59:59.500Z'],
  ['1000-01-01 00:00:00+00', '1000-01-01T00:00:00.000Z'],
  ['9999-12-31 23:59:59+00', '9999-12-31T23:59:59.000Z'],
  ['2026-11-01 09:30:00.123456+05:30', '2026-11-01T04:00:00.123Z'],
  ['2026-11-01 09:30:00-03', '2026-11-01T12:30:00.000Z'],
  ['0099-01-01 00:00:00+00', '0099-01-01T00:00:00.000Z'],
  ['10000-01-01 00:00:00+00', '+010000-01-01T00:00:00.000Z'],
  ['0044-03-15 00:00:00+00 BC', '-000043-03-15T00:00:00.000Z'],
])('reads %s', (text, expected) => {
  expect(parseTimestamp(text)).toEqual(new Date(expected));
});

test('reads infinity as a number', () => {
  expect([parseTimestamp('infinity'), parseTimestamp('-infinity')]).toEqual([Infinity, -Infinity]);
});

test('reads random times as pg does', () => {
  const random = seededRandom(20_261_122);
  const parse = types.getTypeParser(types.builtins.TIMESTAMPTZ);
  for (let count = 0; count < Number(process.env['RUNS'] ?? 1_000); count += 1) {
    const time = new Date(Math.floor(random() * 8e12) - 3e12).toISOString();
    const text = `${time.slice(0, 10)} ${time.slice(11, 23)}+00`;
    expect([text, parseTimestamp(text)]).toEqual([text, parse(text)]);
  }
});
