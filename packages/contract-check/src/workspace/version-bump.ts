import type { Verdict } from '../verdict.ts';

/** The bump between two versions. `none` if a version is unknown or the second is not larger. */
export function bumpBetween(from: string | null, to: string | null): Verdict {
  const [before, now] = [parse(from), parse(to)];
  if (before === null || now === null) return 'none';
  const raised = (['major', 'minor', 'patch'] as const).find((part) => now[part] !== before[part]);
  return raised !== undefined && now[raised] > before[raised] ? raised : 'none';
}

/** The three numbers of a version (semver.org, item 2). Ignores the pre-release and build parts. */
function parse(version: string | null): Record<'major' | 'minor' | 'patch', number> | null {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}
