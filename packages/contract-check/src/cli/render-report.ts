import type { Change, Report } from '../change.ts';
import { declareBump, describeTooSmallBump } from '../remedy.ts';
import { compareVerdicts, type Verdict } from '../verdict.ts';

/** Renders the text format. `packageName` is the package of the new file. Null if it is unknown. */
export function renderReport(
  { verdict, changes }: Report,
  declared: Verdict | null,
  packageName: string | null,
): string {
  const lines = [`Verdict: ${verdict}`, ...renderChanges(changes, '  ')];
  if (declared !== null && compareVerdicts(declared, verdict) >= 0)
    lines.push(`Passed: the declared bump is ${declared}.`);
  if (declared !== null && compareVerdicts(declared, verdict) < 0) {
    lines.push(`Failed: ${describeTooSmallBump(verdict, declared)}`);
    lines.push(...renderRemedy(declareBump(packageName ?? 'PACKAGE', verdict), ''));
  }
  return lines.join('\n');
}

export function renderChanges(changes: readonly Change[], indent: string): string[] {
  const lines = changes.flatMap(({ verdict, coordinate, message, why }) => [
    `${indent}${verdict.padEnd(5)}  ${coordinate}`,
    `${indent}       ${message}`,
    `${indent}       ${why}`,
    '',
  ]);
  return lines.length === 0 ? [] : ['', ...lines];
}

export function renderRemedy(remedy: string, indent: string): string[] {
  const [first = '', ...commands] = remedy.split('\n');
  return [`${indent}To fix: ${first}`, ...commands.map((command) => `${indent}  ${command}`)];
}
