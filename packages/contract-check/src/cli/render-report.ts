import type { Change, Report } from '../change.ts';
import { declareBump } from '../remedy.ts';
import { compareVerdicts, type Verdict } from '../verdict.ts';

/** For people. `packageName`: the one that the new file belongs to; null: not known. */
export function renderReport(
  { verdict, changes }: Report,
  declared: Verdict | null,
  packageName: string | null,
): string {
  const lines = [`Verdict: ${verdict}`, ...renderChanges(changes, '  ')];
  if (declared !== null && compareVerdicts(declared, verdict) >= 0) lines.push(`Declared is ${declared}: enough.`);
  if (declared !== null && compareVerdicts(declared, verdict) < 0) {
    lines.push(`Refused: the changes need a ${verdict} bump, declared is ${declared}.`);
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
  return [`${indent}To do: ${first}`, ...commands.map((command) => `${indent}  ${command}`)];
}
