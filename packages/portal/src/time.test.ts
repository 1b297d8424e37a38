import { afterEach, describe, expect, test } from 'vitest';
import {
  formatDay,
  formatDuration,
  formatTime,
  formatUtc,
  fromLocalInput,
  timeInAddress,
  toLocalInput,
  zoneOf,
} from './time.ts';

test.each([
  [0, '0 s'],
  [-5, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [18_480_000, '5 h 8 min'],
  [86_400_000 * 3 + 60_000, '3 d'],
])('%i ms are %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('names the day and the year only if they differ', () => {
  const now = new Date(2026, 10, 26, 18, 40, 11).getTime();
  expect(formatTime(now, now)).toBe('18:40:11');
  expect(formatTime(new Date(2026, 10, 25, 7, 5, 9).getTime(), now)).toBe('25 Nov, 07:05:09');
  expect(formatTime(new Date(2025, 10, 25, 0, 5, 9).getTime(), now)).toBe('25 Nov 2025, 00:05:09');
  expect(formatDay('2027-06-01')).toBe('1 June 2027');
  expect(formatUtc(Date.UTC(2026, 10, 26, 18, 40, 11, 7))).toBe('2026-11-26 18:40:11.007 UTC');
});

describe('the input of a form', () => {
  const { TZ } = process.env;
  afterEach(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });

  test.each([
    ['America/New_York', '2026-11-01T05:30:00.123Z', '2026-11-01T01:30:00', 'EDT'],
    ['America/New_York', '2026-11-01T06:30:00.123Z', '2026-11-01T01:30:00', 'EST'],
    ['Australia/Lord_Howe', '2026-04-04T14:45:10.999Z', '2026-04-05T01:45:10', 'GMT+11'],
    ['Australia/Lord_Howe', '2026-04-04T15:15:10.999Z', '2026-04-05T01:45:10', 'GMT+10:30'],
    ['UTC', '2026-11-01T06:30:59.001Z', '2026-11-01T06:30:59', 'UTC'],
    ['UTC', '1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59', 'UTC'],
  ])('in %s keeps %s, and shows %s %s', (zone, iso, shown, name) => {
    process.env['TZ'] = zone;
    expect([toLocalInput(iso), zoneOf(iso)]).toEqual([shown, name]);
    expect(fromLocalInput(shown, iso)).toBe(iso);
    // Browsers leave out seconds that are 0.
    expect(fromLocalInput(shown.replace(/:00$/, ''), iso)).toBe(iso);
  });

  test.each([
    [
      'a repeated hour, before the change',
      'America/New_York',
      '2026-11-01T01:31',
      '2026-11-01T05:30Z',
      '2026-11-01T05:31Z',
    ],
    [
      'a repeated hour, after the change',
      'America/New_York',
      '2026-11-01T01:31',
      '2026-11-01T06:30Z',
      '2026-11-01T06:31Z',
    ],
    [
      'a repeated half hour, before it',
      'Australia/Lord_Howe',
      '2026-04-05T01:45',
      '2026-04-04T04:30Z',
      '2026-04-04T14:45Z',
    ],
    [
      'a repeated half hour, after it',
      'Australia/Lord_Howe',
      '2026-04-05T01:45',
      '2026-04-04T15:16Z',
      '2026-04-04T15:15Z',
    ],
    [
      'a skipped hour, before the change',
      'America/New_York',
      '2026-03-08T02:30',
      '2026-03-08T06:30Z',
      '2026-03-08T07:30Z',
    ],
    [
      'a skipped hour, after the change',
      'America/New_York',
      '2026-03-08T02:30',
      '2026-03-08T07:30Z',
      '2026-03-08T07:30Z',
    ],
    ['a skipped half hour', 'Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:30Z', '2026-10-03T15:45Z'],
    ['another offset', 'America/New_York', '2026-11-01T03:00', '2026-11-01T05:30Z', '2026-11-01T08:00Z'],
  ])('reads a time of %s', (_, zone, value, replaced, time) => {
    process.env['TZ'] = zone;
    expect(fromLocalInput(value, replaced)).toBe(time.replace('Z', ':00.000Z'));
  });

  test.each(['', 'never', '2026-02-31T99:99', '123456-01-01T00:00'])('has no time of %j', (value) => {
    expect(fromLocalInput(value, '2026-11-01T06:30:00Z')).toBeNull();
    expect(fromLocalInput(value, 'never')).toBeNull();
  });

  test.each([null, '', 'never', '+275760-09-13T00:00:00.001Z'])('is empty for %j', (iso) => {
    expect(toLocalInput(iso)).toBe('');
  });
});

test.each(['2026-11-01T06:30:00Z', '2026-11-01T06:30:00.123456+05:30', '2028-02-29T00:00:00-11:00'])(
  'keeps the time %s of an address',
  (text) => {
    expect(timeInAddress(text)).toBe(text);
  },
);

test.each([
  null,
  '',
  'foo',
  '-1',
  '2026',
  '2026-11-01',
  '2026-11-01T06:30',
  '2026-11-01T06:30:00',
  '2026-02-30T06:30:00Z',
  '2026-11-01T99:30:00Z',
  ' 2026-11-01T06:30:00Z',
  '+275760-09-13T00:00:00Z',
])('has no time for %j of an address', (text) => {
  expect(timeInAddress(text)).toBeNull();
});
