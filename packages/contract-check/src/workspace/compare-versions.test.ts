import { describe, expect, test } from 'vitest';
import { compareVersionStates } from './compare-versions.ts';
import { refusedRules } from './rules.ts';
import type { VersionState, VersionStatus } from './version-status.ts';

const lifecycle = { today: '2027-03-01', minimumLifetimeMonths: 12 };

function state(status: VersionStatus, deprecatedOn: string | null = null, sunsetOn: string | null = null) {
  return { status, deprecatedOn, sunsetOn } satisfies VersionState;
}

const current = state('current');
const deprecated = state('deprecated', '2026-02-01', '2027-03-01');

function rules(from: VersionState | null, to: VersionState | null): string[] {
  return compareVersionStates('2026-11-01', from, to, lifecycle).map(({ rule }) => rule);
}

describe('allows', () => {
  test.each<[string, VersionState, VersionState, string[]]>([
    [
      'a retirement on the day of the sunset',
      deprecated,
      state('retired', '2026-02-01', '2027-03-01'),
      ['version/versionRetired'],
    ],
    [
      'a deprecation on the day of its release',
      current,
      state('deprecated', '2027-03-01'),
      ['version/versionDeprecated'],
    ],
    [
      'a sunset after exactly the minimum lifetime',
      current,
      state('deprecated', '2027-03-01', '2028-03-01'),
      ['version/versionDeprecated'],
    ],
    [
      'a sunset that is announced later, with the minimum lifetime ahead',
      state('deprecated', '2026-02-01'),
      state('deprecated', '2026-02-01', '2028-03-01'),
      ['version/sunsetAnnounced'],
    ],
    ['a later sunset', deprecated, state('deprecated', '2026-02-01', '2027-04-01'), ['version/sunsetLater']],
    [
      'a later deprecation',
      state('deprecated', '2027-03-05', '2029-01-01'),
      state('deprecated', '2027-03-06', '2029-01-01'),
      ['version/deprecationMoved'],
    ],
    ['a preview that is retired', state('preview'), state('retired'), ['version/previewRemoved']],
    ['a revoked deprecation', deprecated, current, ['version/deprecationRevoked', 'version/sunsetLater']],
  ])('%s', (_, from, to, expected) => {
    expect(rules(from, to)).toEqual(expected);
    expect(expected.filter((rule) => refusedRules.has(rule))).toEqual([]);
  });
});

describe('refuses', () => {
  test.each<[string, VersionState, VersionState, string]>([
    ['to retire a current version', current, state('retired', '2025-11-01', '2026-11-01'), 'version/retiredEarly'],
    [
      'to retire a deprecated version without a sunset',
      state('deprecated', '2026-02-01'),
      state('retired', '2026-02-01', '2027-02-01'),
      'version/retiredEarly',
    ],
    [
      'to retire a version on the day before its sunset',
      state('deprecated', '2026-02-01', '2027-03-02'),
      state('retired', '2026-02-01', '2027-03-02'),
      'version/retiredEarly',
    ],
    [
      'a deprecation before the release',
      current,
      state('deprecated', '2027-02-28', '2029-01-01'),
      'version/deprecationBackdated',
    ],
    [
      'an earlier deprecation',
      state('deprecated', '2027-04-01', '2028-04-01'),
      state('deprecated', '2027-02-01', '2028-04-01'),
      'version/deprecationBackdated',
    ],
    ['an earlier sunset', deprecated, state('deprecated', '2026-02-01', '2027-02-28'), 'version/sunsetEarlier'],
    [
      'an earlier sunset of a retired version',
      deprecated,
      state('retired', '2026-02-01', '2027-02-28'),
      'version/sunsetEarlier',
    ],
    [
      'a sunset before the minimum lifetime ends',
      current,
      state('deprecated', '2027-03-01', '2028-02-29'),
      'version/lifetimeTooShort',
    ],
    [
      'a sunset that is announced later than the minimum lifetime allows',
      state('deprecated', '2026-02-01'),
      state('deprecated', '2026-02-01', '2027-06-01'),
      'version/lifetimeTooShort',
    ],
    ['to withdraw a released version', current, state('preview'), 'version/versionWithdrawn'],
  ])('%s', (_, from, to, expected) => {
    expect(rules(from, to)).toContain(expected);
    expect(refusedRules.has(expected)).toBe(true);
  });
});

describe('a version as a whole', () => {
  test.each<[string, VersionState | null, VersionState | null, string[]]>([
    ['that is added', null, current, ['version/versionAdded']],
    [
      'that is added as deprecated, backdated',
      null,
      state('deprecated', '2026-01-01', '2029-01-01'),
      ['version/versionAdded', 'version/versionDeprecated', 'version/deprecationBackdated'],
    ],
    ['that is removed before it was deprecated', current, null, ['version/retiredEarly']],
    ['that is removed after its sunset', deprecated, null, ['version/versionRetired']],
    [
      'that is removed after it was retired',
      state('retired', '2026-02-01', '2027-02-01'),
      null,
      ['version/versionRetired'],
    ],
    ['that is removed as a preview', state('preview'), null, ['version/previewRemoved']],
  ])('%s', (_, from, to, expected) => {
    expect(rules(from, to)).toEqual(expected);
  });
});
