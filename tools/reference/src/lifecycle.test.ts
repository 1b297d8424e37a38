import { webhookEventTypes } from '@deedwire/webhook-events';
import { expect, test } from 'vitest';
import { readInterfaceContracts } from './interface-contracts.ts';
import { statusExplained, statusInWords, type Lifecycle } from './lifecycle.ts';

const deprecated: Lifecycle = {
  version: '2026-11-01',
  status: 'deprecated',
  deprecatedOn: '2028-02-29',
  sunsetOn: '2029-03-01',
};

test('a status in words', () => {
  expect(statusInWords(deprecated)).toBe('deprecated on 2028-02-29, ends on 2029-03-01');
  expect(statusInWords({ ...deprecated, status: 'retired' })).toBe('retired on 2029-03-01');
  expect(statusExplained(deprecated)).toContain('ends on 2029-03-01');
});

/** What docs/versions.md promises: a deprecated version goes on for at least 12 months. */
function isLongEnough({ deprecatedOn, sunsetOn }: Lifecycle): boolean {
  if (deprecatedOn === null || sunsetOn === null) return true;
  const [year = '', ...day] = deprecatedOn.split('-');
  return sunsetOn >= [Number(year) + 1, ...day].join('-');
}

test('every deprecated version lives for 12 months more, as docs/versions.md promises', () => {
  expect(isLongEnough(deprecated)).toBe(true);
  expect(isLongEnough({ ...deprecated, sunsetOn: '2029-02-28' })).toBe(false);
  const versions = [...readInterfaceContracts(), ...webhookEventTypes].flatMap(
    (contract): readonly Lifecycle[] => contract.versions,
  );
  expect(versions.length).toBeGreaterThan(10);
  expect(versions.filter((version) => !isLongEnough(version))).toEqual([]);
});
