import { describe, expect, test } from 'vitest';
import { describeAddition, releaseOf, remarksOn, type History } from './history.ts';

const unchanged = { isFirst: false, status: 'current', added: [], removed: [], changes: [] };
const history: History = {
  packageName: '@deedwire/lender-schema',
  records: {
    '1.0.0': { '2026-11-01': { ...unchanged, isFirst: true } },
    '1.1.0': { '2026-11-01': { ...unchanged, added: ['Lender.motto', 'Branch', 'Branch.id', 'Branch.id(of:)'] } },
  },
  unreleased: {
    '2026-11-01': { ...unchanged, added: ['Branch.name', 'Lender.fax'] },
    '2027-02-01': { ...unchanged, isFirst: true },
  },
};

describe('the release of an element', () => {
  test.each([
    ['2026-11-01', 'Lender.name', '1.0.0'],
    ['2026-11-01', 'Lender.motto', '1.1.0'],
    ['2026-11-01', 'Lender.fax', null],
    ['2026-11-01', null, '1.0.0'],
    ['2027-02-01', 'Lender.name', null],
    ['2027-02-01', null, null],
  ])('%s %s: %s', (subject, coordinate, expected) => {
    expect(releaseOf(history, subject, coordinate)).toBe(expected);
  });
});

test('a remark names the release, unless it is that of the parent', () => {
  const remark = remarksOn(history, '2026-11-01');
  expect(remark('Lender', null)).toBe('');
  expect(remark('Lender.motto', 'Lender')).toBe(' Added in 1.1.0.');
  expect(remark('Branch', null)).toBe(' Added in 1.1.0.');
  expect(remark('Branch.id', 'Branch')).toBe('');
  expect(remark('Branch.id(of:)', 'Branch.id')).toBe('');
  expect(remark('Branch.name', 'Branch')).toBe(' Added in the next release.');
  expect(remarksOn(history, '2027-02-01')('Lender.name', 'Lender')).toBe('');
});

test('a version states the release that added it', () => {
  expect(describeAddition(history, '2026-11-01')).toMatch(/ added in 1\.0\.0 of `@deedwire\/lender-schema`/);
  expect(describeAddition(history, '2027-02-01')).toMatch(/ added in the next release of /);
});
