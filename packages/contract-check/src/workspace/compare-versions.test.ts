import { describe, expect, test } from 'vitest';
import { compareVersionStates } from './compare-versions.ts';
import { refusedRules } from './rules.ts';
import type { VersionState } from './version-status.ts';

const lifecycle = { today: '2027-03-01', minimumLifetimeMonths: 12 };

const undated = { deprecatedOn: null, sunsetOn: null };
const current: VersionState = { status: 'current', ...undated };
const preview: VersionState = { status: 'preview', ...undated };
const deprecated = (deprecatedOn: string, sunsetOn: string | null = null): VersionState => ({
  status: 'deprecated',
  deprecatedOn,
  sunsetOn,
});
const retired = (deprecatedOn: string, sunsetOn: string): VersionState => ({
  status: 'retired',
  deprecatedOn,
  sunsetOn,
});
const ending = deprecated('2026-02-01', '2027-03-01');

function rules(from: VersionState | null, to: VersionState | null): string[] {
  return compareVersionStates('2026-11-01', from, to, lifecycle).map(({ rule }) => rule.replace('version/', ''));
}

describe('allows', () => {
  test.each<[string, VersionState, VersionState, string[]]>([
    ['a retirement on the day of the sunset', ending, retired('2026-02-01', '2027-03-01'), ['versionRetired']],
    ['a deprecation on the day of its release', current, deprecated('2027-03-01'), ['versionDeprecated']],
    [
      'a sunset after exactly the minimum lifetime',
      current,
      deprecated('2027-03-01', '2028-03-01'),
      ['versionDeprecated'],
    ],
    [
      'a sunset that is announced later, with the minimum lifetime ahead',
      deprecated('2026-02-01'),
      deprecated('2026-02-01', '2028-03-01'),
      ['sunsetAnnounced'],
    ],
    ['a later sunset', ending, deprecated('2026-02-01', '2027-04-01'), ['sunsetLater']],
    [
      'a later deprecation',
      deprecated('2027-03-05', '2029-01-01'),
      deprecated('2027-03-06', '2029-01-01'),
      ['deprecationMoved'],
    ],
    ['a preview that is retired', preview, { ...preview, status: 'retired' }, ['previewRemoved']],
    ['a revoked deprecation', ending, current, ['deprecationRevoked', 'sunsetLater']],
  ])('%s', (_, from, to, expected) => {
    expect(rules(from, to)).toEqual(expected);
    expect(expected.filter((rule) => refusedRules.has(`version/${rule}`))).toEqual([]);
  });
});

describe('refuses', () => {
  test.each<[string, VersionState, VersionState, string]>([
    ['to retire a current version', current, retired('2025-11-01', '2026-11-01'), 'retiredEarly'],
    [
      'to retire a deprecated version without a sunset',
      deprecated('2026-02-01'),
      retired('2026-02-01', '2027-02-01'),
      'retiredEarly',
    ],
    [
      'to retire a version on the day before its sunset',
      deprecated('2026-02-01', '2027-03-02'),
      retired('2026-02-01', '2027-03-02'),
      'retiredEarly',
    ],
    ['a deprecation before the release', current, deprecated('2027-02-28', '2029-01-01'), 'deprecationBackdated'],
    [
      'an earlier deprecation',
      deprecated('2027-04-01', '2028-04-01'),
      deprecated('2027-02-01', '2028-04-01'),
      'deprecationBackdated',
    ],
    ['an earlier sunset', ending, deprecated('2026-02-01', '2027-02-28'), 'sunsetEarlier'],
    ['an earlier sunset of a retired version', ending, retired('2026-02-01', '2027-02-28'), 'sunsetEarlier'],
    ['a sunset before the minimum lifetime ends', current, deprecated('2027-03-01', '2028-02-29'), 'lifetimeTooShort'],
    [
      'a sunset that is announced later than the minimum lifetime allows',
      deprecated('2026-02-01'),
      deprecated('2026-02-01', '2027-06-01'),
      'lifetimeTooShort',
    ],
    ['to withdraw a released version', current, preview, 'versionWithdrawn'],
  ])('%s', (_, from, to, expected) => {
    expect(rules(from, to)).toContain(expected);
    expect(refusedRules.has(`version/${expected}`)).toBe(true);
  });
});

describe('a version as a whole', () => {
  test.each<[string, VersionState | null, VersionState | null, string[]]>([
    ['that is added', null, current, ['versionAdded']],
    [
      'that is added as deprecated, backdated',
      null,
      deprecated('2026-01-01', '2029-01-01'),
      ['versionAdded', 'versionDeprecated', 'deprecationBackdated'],
    ],
    ['that is removed before it was deprecated', current, null, ['retiredEarly']],
    ['that is removed after its sunset', ending, null, ['versionRetired']],
    ['that is removed after it was retired', retired('2026-02-01', '2027-02-01'), null, ['versionRetired']],
    ['that is removed as a preview', preview, null, ['previewRemoved']],
  ])('%s', (_, from, to, expected) => {
    expect(rules(from, to)).toEqual(expected);
  });
});
