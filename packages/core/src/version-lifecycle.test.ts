import { expect, test } from 'vitest';
import { isRetired, startOfDay, sunsetTime, type VersionLifecycle } from './version-lifecycle.ts';

test.each<[VersionLifecycle, boolean]>([
  [{ status: 'preview', sunsetOn: null }, false],
  [{ status: 'current', sunsetOn: null }, false],
  [{ status: 'deprecated', sunsetOn: '2027-11-02' }, false],
  [{ status: 'deprecated', sunsetOn: '2027-11-01' }, true],
  [{ status: 'deprecated', sunsetOn: '2027-10-31' }, true],
  [{ status: 'retired', sunsetOn: '2027-12-01' }, true],
  [{ status: 'retired', sunsetOn: null }, true],
])('%j on 2027-11-01: %s', (version, expected) => {
  expect(isRetired(version, new Date('2027-11-01T00:00:00Z'))).toBe(expected);
});

test('a version is served until the last millisecond before its sunset in UTC', () => {
  const version = { status: 'deprecated', sunsetOn: '2027-11-02' } as const;
  expect(isRetired(version, new Date('2027-11-01T23:59:59.999Z'))).toBe(false);
  expect(isRetired(version, new Date('2027-11-02T00:00:00.000Z'))).toBe(true);
  expect(sunsetTime(version)).toEqual(new Date('2027-11-02T00:00:00.000Z'));
});

test.each([null, '', 'soon', '2027-13-01', '2027-11-01T00:00:00Z'])('%j is not a day', (day) => {
  expect(startOfDay(day)).toBeNull();
});
