import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { parseDuration, timeParser } from './time-options.ts';

const nowMs = (): number => Date.parse('2027-03-01T10:15:00Z');
const parsePast = timeParser(-1, nowMs);
const parseFuture = timeParser(1, nowMs);

test.each([
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2027-01-31T12:30Z', '2027-01-31T12:30:00.000Z'],
  ['2027-01-31T12:30:15.5Z', '2027-01-31T12:30:15.500Z'],
])('reads %s as %s', (value, time) => {
  expect(parsePast(value).toISOString()).toBe(time);
  expect(parseFuture(value).toISOString()).toBe(time);
});

test.each([
  ['1h', '2027-03-01T09:15:00.000Z'],
  ['90s', '2027-03-01T10:13:30.000Z'],
  ['2d', '2027-02-27T10:15:00.000Z'],
  ['today', '2027-03-01T00:00:00.000Z'],
  ['yesterday', '2027-02-28T00:00:00.000Z'],
])('reads %s as %s, in the past', (value, time) => {
  expect(parsePast(value).toISOString()).toBe(time);
});

test('reads a duration from now, in the future', () => {
  expect(parseFuture('90d').toISOString()).toBe('2027-05-30T10:15:00.000Z');
  expect(() => parseFuture('yesterday')).toThrow(InvalidArgumentError);
});

test.each([
  '',
  'tomorrow',
  '1w',
  '2027',
  '2027-02-30',
  '2027-13-01',
  '31.01.2027',
  '2027-01-31T12:30',
  '2027-01-31T25:00Z',
  '99999999d',
])('rejects the time %j', (value) => {
  expect(() => parsePast(value)).toThrow(InvalidArgumentError);
  expect(() => parseFuture(value)).toThrow(InvalidArgumentError);
});

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
