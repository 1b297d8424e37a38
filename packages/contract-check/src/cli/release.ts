import type { PackageReport, WorkspaceReport } from '../workspace/check-workspace.ts';
import { placeOf } from './outcome.ts';

/** What was last released of each package, and whether a release of the current versions is complete. */
export function describeReleases({ packages, notices }: WorkspaceReport): {
  readonly text: string;
  readonly isComplete: boolean;
} {
  const changed = packages.filter(({ changes }) => changes.length > 0);
  const summary =
    changed.length === 0
      ? 'Passed: the contracts are as in the last release of each package.'
      : [
          `Failed: ${changed.map(({ name }) => name).join(', ')}`,
          'To fix: raise the version of each of them, and commit it, before you publish it.',
        ].join('\n');
  const noticed = notices.map(({ location, message }) => `  ${placeOf(location)}: ${message}`);
  const text = [
    ...packages.flatMap(linesOf),
    '',
    ...(noticed.length === 0 ? [] : ['Notices:', '', ...noticed, '']),
    summary,
  ].join('\n');
  return { text, isComplete: changed.length === 0 };
}

function linesOf({ name, version, baseline, changes, verdict }: PackageReport): string[] {
  const heading = `${name} ${version ?? 'without a version'}: ${baseline ?? 'not released yet'}`;
  if (changes.length === 0) return [heading];
  return [
    heading,
    `  changed since: the changes need a ${verdict} bump`,
    ...changes.map((change) => `    ${change.verdict}  ${change.file}  ${change.coordinate}`),
  ];
}
