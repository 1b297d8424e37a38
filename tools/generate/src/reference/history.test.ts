import { expect, test } from 'vitest';
import { describeAddition, type History, remarksOn } from './history.ts';

// The committed pages show what earlier releases have added.
const unchanged = { isFirst: false, status: 'current', added: [], removed: [], changes: [] };
const history: History = {
  packageName: '@deedwire/customer-schema',
  records: { '1.0.0': { '2026-11-01': { ...unchanged, isFirst: true } } },
  unreleased: {
    '2026-11-01': { ...unchanged, added: ['Customer.fax'] },
    '2027-02-01': { ...unchanged, isFirst: true },
  },
};

test('names the next release as the one that adds an element or a version', () => {
  expect(remarksOn(history, '2026-11-01')('Customer.fax', 'Customer')).toBe(' Added in the next release.');
  expect(remarksOn(history, '2027-02-01')('Customer.fax', 'Customer')).toBe('');
  expect(describeAddition(history, '2027-02-01')).toMatch(/ added in the next release of /);
});
