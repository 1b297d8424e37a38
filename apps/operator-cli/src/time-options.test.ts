import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { parseDuration, parseTime } from './time-options.ts';

test.each([
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2027-01-31T12:30Z', '2027-01-31T12:30:00.000Z'],
  ['2027-01-31T12:30:15.5Z', '2027-01-31T12:30:15.500Z'],
])('reads %s as %s', (value, time) => {
  expect(parseTime(value).toISOString()).toBe(time);
});

test.each(['', 'tomorrow', '2027', '2027-02-30', '2027-13-01', '31.01.2027', '2027-01-31T12:30', '2027-01-31T25:00Z'])(
  'rejects the time %j',
  (value) => {
    expect(() => parseTime(value)).toThrow(InvalidArgumentError);
  },
);

test.each([
  ['0', 0],
  ['90s', 90],
  ['30m', 1_800],
  ['1h', 3_600],
  ['30d', 2_592_000],
])('reads %s as %i seconds', (value, seconds) => {
  expect(parseDuration(value)).toBe(seconds);
});

test.each(['', '1', 'h', '1w', '-1h', '1.5h', '1h30m'])('rejects the duration %j', (value) => {
  expect(() => parseDuration(value)).toThrow(InvalidArgumentError);
});
