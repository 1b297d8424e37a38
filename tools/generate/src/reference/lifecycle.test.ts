import { readLayouts } from '@deedwire/layout';
import { expect, test } from 'vitest';
import { type ListedVersion, readEventVersions, readInterfaceVersions } from '../event-versions.ts';
import { statusExplanation, statusSummary } from './lifecycle.ts';

const deprecated: ListedVersion = {
  version: '2026-11-01',
  status: 'deprecated',
  deprecatedOn: '2028-02-29',
  sunsetOn: '2029-03-01',
};

test('summarizes and explains a status', () => {
  expect(statusSummary(deprecated)).toBe('deprecated on 2028-02-29, sunset on 2029-03-01');
  expect(statusSummary({ ...deprecated, status: 'retired' })).toBe('retired on 2029-03-01');
  expect(statusExplanation(deprecated)).toContain('until its sunset on 2029-03-01');
});

/** docs/versions.md promises at least 12 months between deprecation and sunset. */
function isLongEnough({ deprecatedOn, sunsetOn }: ListedVersion): boolean {
  if (deprecatedOn === null || sunsetOn === null) return true;
  const [year = '', ...day] = deprecatedOn.split('-');
  return sunsetOn >= [Number(year) + 1, ...day].join('-');
}

test('every deprecated version is served for at least 12 more months', async () => {
  const layouts = await readLayouts();
  expect(isLongEnough(deprecated)).toBe(true);
  expect(isLongEnough({ ...deprecated, sunsetOn: '2029-02-28' })).toBe(false);
  const versions: ListedVersion[] = layouts.flatMap(({ interfaceNames, contractOf, payloads }) => [
    ...interfaceNames.flatMap((name) => readInterfaceVersions(contractOf(name))),
    ...(payloads === null ? [] : readEventVersions(payloads).flatMap((event) => event.versions)),
  ]);
  expect(versions.length).toBeGreaterThan(2);
  expect(versions.filter((version) => !isLongEnough(version))).toEqual([]);
});
