import type { PackageReport, WorkspaceReport } from '../workspace/check-workspace.ts';
import type { ContractChange } from '../workspace/compare-snapshots.ts';
import { renderChanges, renderRemedy } from './render-report.ts';

/** Renders the text format: every package with its changes, its problems and their remedies. */
export function renderWorkspace({ packages }: WorkspaceReport): string {
  const failed = packages.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  const summary =
    failed.length === 0
      ? 'Passed: every change is declared, and no released version is broken.'
      : `Failed: ${failed.join(', ')}`;
  return [...packages.flatMap(renderPackage), summary].join('\n');
}

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
