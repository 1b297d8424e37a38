import type { Verdict } from './verdict.ts';

/** The bump between two versions. `none` if a version is unknown or the second is not larger. */
export function bumpBetween(from: string | null, to: string | null): Verdict {
  const [before, now] = [parse(from), parse(to)];
  if (before === null || now === null) return 'none';
  const raised = parts.find((part) => now[part] !== before[part]);
  return raised !== undefined && now[raised] > before[raised] ? raised : 'none';
}

/** Whether a version names a release. A pre-release does not, and neither does 0.0.0, with which new packages begin. */
export function isReleaseVersion(version: string): boolean {
  return /^\d+\.\d+\.\d+(?:\+.*)?$/.test(version) && !/^0\.0\.0(?!\d)/.test(version);
}

/** Returns a negative number if `a` is smaller than `b`. Ignores the pre-release and build parts. */
export function compareVersions(a: string, b: string): number {
  const [before, now] = [parse(a), parse(b)];
  const differing = parts.find((part) => before?.[part] !== now?.[part]);
  return differing === undefined ? 0 : (before?.[differing] ?? 0) - (now?.[differing] ?? 0);
}

const parts = ['major', 'minor', 'patch'] as const;

/** The three numbers of a version (semver.org, item 2). Ignores the pre-release and build parts. */
function parse(version: string | null): Record<'major' | 'minor' | 'patch', number> | null {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}
