import type { Verdict } from '../verdict.ts';

/** The bump that leads from one version to another; `none` when one of them is not known or nothing was raised. */
export function bumpBetween(from: string | null, to: string | null): Verdict {
  const [before, now] = [parse(from), parse(to)];
  if (before === null || now === null) return 'none';
  const raised = (['major', 'minor', 'patch'] as const).find((part) => now[part] !== before[part]);
  return raised !== undefined && now[raised] > before[raised] ? raised : 'none';
}

/** Numbers of a version (semver.org, item 2); what follows them does not count. */
function parse(version: string | null): Record<'major' | 'minor' | 'patch', number> | null {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}
