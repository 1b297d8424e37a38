import type { Notice } from '../change.ts';
import type { PackageReport, WorkspaceReport } from '../workspace/check-workspace.ts';
import { exceptionsFile, type ReportedException } from '../workspace/exceptions.ts';
import { expiryText, nothingEnforced, placeOf, reasonsOf, summaryOf, type Group, type Outcome } from './outcome.ts';

/** Renders the text format: the changes, the problems and their remedies, then the exceptions. */
export function renderText(outcome: Outcome): string[] {
  const { groups, notices, exceptions, verdict } = outcome;
  const [only] = groups;
  if (only?.name === null) {
    const failed = only.problems.flatMap(({ remedy }) => renderRemedy(remedy, ''));
    const found = [...renderChanges(only.changes, '  '), ...renderNotices(notices)];
    const end = only.declared === null ? nothingEnforced : summaryOf(outcome);
    return [`Verdict: ${verdict}`, ...found, end, ...failed];
  }
  return [
    ...groups.flatMap(renderGroup),
    ...renderNotices(notices),
    ...renderExceptions(exceptions),
    summaryOf(outcome),
  ];
}

function renderChanges(changes: Group['changes'], indent: string): string[] {
  const lines = changes.flatMap((change) => {
    const { verdict, coordinate, message, location, rule } = change;
    return [
      `${indent}${verdict.padEnd(5)}  ${coordinate}`,
      `${indent}       ${message}`,
      `${indent}       ${reasonsOf(change)}`,
      `${indent}       ${placeOf(location)}  ${rule}`,
      '',
    ];
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

function renderRemedy(remedy: string, indent: string): string[] {
  const [first = '', ...commands] = remedy.split('\n');
  return [`${indent}To fix: ${first}`, ...commands.map((command) => `${indent}  ${command}`)];
}

function renderNotices(notices: readonly Notice[]): string[] {
  const lines = new Set(notices.map(({ location, message }) => `  ${placeOf(location)}: ${message}`));
  return lines.size === 0 ? [] : ['Notices:', '', ...lines, ''];
}

export function renderExceptions(exceptions: readonly ReportedException[]): string[] {
  if (exceptions.length === 0) return [];
  return [
    `Exceptions in ${exceptionsFile}:`,
    '',
    ...exceptions.flatMap(({ status, package: name, file, rule, coordinate, reason, expiresOn, approvedBy }) => [
      `  ${status.padEnd(7)}  ${name} ${file} ${coordinate} (${rule})`,
      `           ${reason}`,
      `           Approved by ${approvedBy}. ${expiryText[status](expiresOn)}`,
      '',
    ]),
  ];
}

function renderGroup(group: Group): string[] {
  const lines = [heading(group)];
  if (group.changes.length > 0) lines.push('');
  for (const [file, changes] of Map.groupBy(group.changes, (change) => change.file ?? change.location.file))
    lines.push(`  ${file}`, ...renderChanges(changes, '    '));
  for (const { message, remedy } of group.problems)
    lines.push(`  Failed: ${message}`, ...renderRemedy(remedy, '  '), '');
  return lines.at(-1) === '' ? lines : [...lines, ''];
}

function heading({ name, baseline, verdict, declared }: Group): string {
  if (baseline === null) return `${name}: not released yet, so every change is allowed`;
  return `${name}: verdict ${verdict}, declared bump ${declared} (compared with ${baseline})`;
}

/** What was last released of each package, and whether a release of the current versions is complete. */
export function describeReleases({ packages, notices }: WorkspaceReport) {
  const changed = packages.filter(({ changes }) => changes.length > 0);
  const summary =
    changed.length === 0
      ? ['Passed: the contracts are as in the latest release of each package.']
      : [
          `Failed: ${changed.map(({ name }) => name).join(', ')}`,
          'To fix: raise the version of each of them, and commit it, before you publish it.',
        ];
  const lines = [...packages.flatMap(releaseOf), '', ...renderNotices(notices), ...summary];
  return { lines, isComplete: changed.length === 0 };
}

function releaseOf({ name, version, baseline, changes, verdict }: PackageReport): string[] {
  const title = `${name} ${version ?? 'without a version'}: ${baseline ?? 'not released yet'}`;
  if (changes.length === 0) return [title];
  return [
    title,
    `  changed since: the changes need a ${verdict} bump`,
    ...changes.map((change) => `    ${change.verdict}  ${change.file}  ${change.coordinate}`),
  ];
}
