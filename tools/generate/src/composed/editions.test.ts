import { expect, test } from 'vitest';
import { type Edition, withEditions } from './editions.ts';

const path = 'own/editions.json';
const current = { version: '2026-11-01', status: 'current' } as const;
const preview = { version: '2027-06-01', status: 'preview' } as const;
const [older, newer]: [Edition, Edition] = [
  { date: '2026-11-01', status: 'current', removes: [] },
  { date: '2027-02-01', status: 'preview', removes: ['Query.hooks'] },
];
const editions = [older, newer];

test('a version is composed of its edition and the earlier ones', () => {
  const chosen = { '2026-11-01': '2026-11-01', '2027-06-01': '2027-02-01' };
  expect(withEditions(path, [current, preview], chosen, editions)).toEqual([
    { date: '2026-11-01', editions: [older] },
    { date: '2027-06-01', editions: [older, newer] },
  ]);
});

test('an interface takes an edition on its own date, or not at all', () => {
  const chosen = { '2026-11-01': '2026-11-01', '2027-06-01': '2026-11-01' };
  expect(withEditions(path, [current, preview], chosen, editions).map((version) => version.editions)).toEqual([
    [older],
    [older],
  ]);
});

test('a released version cannot use an edition that follows a preview', () => {
  const released = { date: '2027-06-01', status: 'current', removes: [] } as const;
  expect(() => withEditions(path, [current], { '2026-11-01': '2027-06-01' }, [...editions, released])).toThrow(
    'version 2026-11-01 is current, so it cannot use edition 2027-02-01, a preview.',
  );
});

test.each([
  [
    'a released version with a preview',
    { '2026-11-01': '2027-02-01' },
    'version 2026-11-01 is current, so it cannot use edition 2027-02-01, a preview.',
  ],
  [
    'a version without an edition',
    {},
    'name an edition of packages/webhook-contract/editions.json for version 2026-11-01.',
  ],
  [
    'an unknown edition',
    { '2026-11-01': '2026-11-02' },
    'name an edition of packages/webhook-contract/editions.json for version 2026-11-01.',
  ],
  [
    'an edition for no version',
    { '2026-11-01': '2026-11-01', '2026-11-02': '2026-11-01' },
    'versions.json has no version 2026-11-02.',
  ],
])('refuses %s', (_, chosen, message) => {
  expect(() => withEditions(path, [current], chosen, editions)).toThrow(`own/editions.json: ${message}`);
});
