import type { ExceptionStatus, ReportedException } from '../workspace/apply-exceptions.ts';
import type { PackageReport, WorkspaceReport } from '../workspace/check-workspace.ts';
import type { ContractChange } from '../workspace/compare-snapshots.ts';
import { exceptionsFile } from '../workspace/exceptions.ts';
import { renderChanges, renderRemedy } from './render-report.ts';

/** Renders the text format: every package with its changes, its problems and their remedies, then the exceptions. */
export function renderWorkspace({ packages, exceptions }: WorkspaceReport): string {
  const failed = packages.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  if (exceptions.some(({ status }) => status === 'expired')) failed.push(exceptionsFile);
  const summary =
    failed.length === 0
      ? 'Passed: every change is declared, and no released version is broken.'
      : `Failed: ${failed.join(', ')}`;
  return [...packages.flatMap(renderPackage), ...renderExceptions(exceptions), summary].join('\n');
}

function renderExceptions(exceptions: readonly ReportedException[]): string[] {
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

const expiryText: Readonly<Record<ExceptionStatus, (day: string) => string>> = {
  applied: (day) => `It holds until ${day}.`,
  unused: (day) => `No change needs it. It holds until ${day}. Remove it once the change is released.`,
  expired: (day) => `It expired after ${day}. Remove it, or have it approved again.`,
};

function renderPackage(report: PackageReport): string[] {
  const lines = [heading(report)];
  if (report.changes.length > 0) lines.push('');
  for (const [file, changes] of byFile(report.changes)) lines.push(`  ${file}`, ...renderChanges(changes, '    '));
  for (const { message, remedy } of report.problems)
    lines.push(`  Failed: ${message}`, ...renderRemedy(remedy, '  '), '');
  return lines.at(-1) === '' ? lines : [...lines, ''];
}

function heading({ name, baseline, verdict, declared }: PackageReport): string {
  if (baseline === null) return `${name}: not released yet, so every change is allowed`;
  return `${name}: verdict ${verdict}, declared bump ${declared} (compared with ${baseline})`;
}

function byFile(changes: readonly ContractChange[]): Map<string, ContractChange[]> {
  const groups = new Map<string, ContractChange[]>();
  for (const change of changes) groups.set(change.file, [...(groups.get(change.file) ?? []), change]);
  return groups;
}
