import type { Verdict } from './verdict.ts';

/** The bump between two versions. `none` if a version is unknown or the second is not larger. */
export function bumpBetween(from: string | null, to: string | null): Verdict {
  const [before, now] = [parse(from), parse(to)];
  if (before === null || now === null) return 'none';
  const raised = parts.find((part) => now[part] !== before[part]);
  return raised !== undefined && now[raised] > before[raised] ? raised : 'none';
}

/**
 * The bump that releases changes of a verdict. Below 1.0.0, caret ranges exclude smaller bumps: `^0.2.0` excludes 0.3.0, so a
 * minor may break, and `^0.0.2` excludes 0.0.3, so a patch may.
 *
 * @param version the version before the bump. Null if it is unknown. 0.0.0 is no release, but often the version of a private package.
 */
export function bumpFor(verdict: Verdict, version: string | null): Verdict {
  const before = parse(version);
  if (verdict === 'none' || before === null || before.major > 0) return verdict;
  if (before.minor > 0) return verdict === 'major' ? 'minor' : verdict;
  return before.patch > 0 ? 'patch' : verdict;
}

/** The version that npm publishes for `"version"` in a `package.json`: `v1.2.0` and ` 1.2.0` are 1.2.0. Null if it is no text. */
export function publishedVersion(version: unknown): string | null {
  return typeof version === 'string' ? version.trim().replace(/^[v=\s]+/, '') : null;
}

/** Whether a version is one that npm publishes. */
export function isVersion(version: string): boolean {
  return parse(version) !== null;
}

/** Whether a version names a release. A pre-release does not, and neither does 0.0.0, with which new packages begin. */
export function isReleaseVersion(version: string): boolean {
  return /^\d+\.\d+\.\d+(?:\+.*)?$/.test(version) && !/^0\.0\.0(?!\d)/.test(version);
}

/** Whether git never has the version of a package, but nothing or a text such as 0.0.0-development. */
export function isPlaceholder(version: string | null): boolean {
  return version === null || version.startsWith('0.0.0-');
}

/** Returns a negative number if `a` is smaller than `b`. Ignores the pre-release and build parts. */
export function compareVersions(a: string, b: string): number {
  const [before, now] = [parse(a), parse(b)];
  const differing = parts.find((part) => before?.[part] !== now?.[part]);
  return differing === undefined ? 0 : (before?.[differing] ?? 0) - (now?.[differing] ?? 0);
}

/**
 * The releases with which a package is compared, of all that it has had: the newest one that is not larger than the version that
 * is merged, and the newest one that is not larger than the version of now, if that differs. A lowered version is published to
 * the users of the versions below it.
 *
 * @param merged null if it is unknown. Then the newest release counts.
 */
export function precedingReleases(
  versions: Iterable<string>,
  merged: string | null,
  now: string | null,
): readonly string[] {
  const releases = [...new Set(versions)].filter(isReleaseVersion).toSorted(compareVersions);
  const last = releases.findLast((version) => merged === null || precedes(version, merged));
  const previous =
    now === null || !isReleaseVersion(now) ? undefined : releases.findLast((version) => precedes(version, now));
  return [...new Set([last, previous].flatMap((version) => version ?? []))];
}

/** Whether a release is not larger than a version. Each release precedes 0.0.0, which is no release. */
function precedes(release: string, version: string): boolean {
  const difference = compareVersions(release, version);
  if (isReleaseVersion(version)) return difference <= 0;
  return difference < 0 || parts.every((part) => (parse(version)?.[part] ?? 0) === 0);
}

const parts = ['major', 'minor', 'patch'] as const;

/** The three numbers of a version (semver.org, item 2). Ignores the pre-release and build parts. */
function parse(version: string | null): Record<'major' | 'minor' | 'patch', number> | null {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}
