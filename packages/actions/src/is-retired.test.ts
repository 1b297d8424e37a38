import { expect, test } from 'vitest';
import { isRetired } from './is-retired.ts';
import { retiredEventVersions } from './webhook-event-types/event-versions.ts';

const now = new Date('2027-11-01T00:00:00Z');

test.each<[Parameters<typeof isRetired>[0], boolean]>([
  [{ status: 'preview', sunsetOn: null }, false],
  [{ status: 'current', sunsetOn: null }, false],
  [{ status: 'deprecated', sunsetOn: '2027-11-02' }, false],
  [{ status: 'deprecated', sunsetOn: '2027-11-01' }, true],
  [{ status: 'deprecated', sunsetOn: '2027-10-31' }, true],
  [{ status: 'retired', sunsetOn: '2027-12-01' }, true],
  [{ status: 'retired', sunsetOn: null }, true],
])('%j on 2027-11-01: %s', (version, expected) => {
  expect(isRetired(version, now)).toBe(expected);
});

test('a version lives to the last moment of the day before', () => {
  const version = { status: 'deprecated', sunsetOn: '2027-11-02' } as const;
  expect(isRetired(version, new Date('2027-11-01T23:59:59.999Z'))).toBe(false);
});

test('none has come to its end yet', () => {
  expect(retiredEventVersions(new Date('2026-11-20T00:00:00Z'))).toEqual([]);
});
