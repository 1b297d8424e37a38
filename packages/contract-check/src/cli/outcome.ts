import type { Change, Report } from '../change.ts';
import { declaringIn } from '../declaring.ts';
import { tooSmallBump } from '../remedy.ts';
import type { NamedPackage } from '../source/project.ts';
import { compareVerdicts, type Verdict } from '../verdict.ts';
import { bumpFor } from '../version-bump.ts';
import type { PackageReport, Problem, WorkspaceReport } from '../workspace/check-workspace.ts';
import type { ContractChange } from '../workspace/compare-snapshots.ts';
import { exceptionsFile, type ExceptionStatus } from '../workspace/exceptions.ts';

/** `error`: the change fails the check. `warning`: it is major, but allowed. `note`: it is smaller. */
export type Level = 'error' | 'warning' | 'note';

/** The result of one comparison: of two files, or of one package. */
export interface Group extends Pick<PackageReport, 'verdict' | 'baseline' | 'baselineVersion'> {
  /** Null for a comparison of two files. */
  readonly name: string | null;
  /** Null if no bump was declared, so that every verdict passes. */
  readonly declared: Verdict | null;
  readonly changes: readonly (Change & Partial<ContractChange>)[];
  readonly problems: readonly Pick<Problem, 'message' | 'remedy'>[];
}

/** The result of a check, which every format shows. */
export interface Outcome extends Pick<WorkspaceReport, 'verdict' | 'notices' | 'exceptions'> {
  readonly passed: boolean;
  readonly groups: readonly Group[];
  /** What the JSON format prints. */
  readonly json: object;
}

/** @param found the package of the new file. Null if it is unknown. */
export function outcomeOfReport(
  report: Report,
  declared: Verdict | null,
  baseline: string,
  found: NamedPackage | null,
): Outcome {
  const { verdict, changes, notices } = report;
  const baselineVersion = found?.version ?? null;
  const needed = bumpFor(verdict, baselineVersion);
  const problems = [];
  if (declared !== null && compareVerdicts(declared, needed) < 0) {
    const packageName = found?.name ?? 'PACKAGE';
    const bump = { packageName, manifest: 'package.json', needed, declared, isOption: true };
    problems.push(tooSmallBump(bump, declaringIn(found?.folder ?? '.')));
  }
  const group = { name: null, verdict, declared, baseline, baselineVersion, changes, problems };
  return { passed: problems.length === 0, verdict, groups: [group], notices, exceptions: [], json: report };
}

export function outcomeOfWorkspace(report: WorkspaceReport): Outcome {
  const { verdict, packages, notices, exceptions } = report;
  const expired = exceptions.some(({ status }) => status === 'expired');
  const passed = !expired && packages.every(({ problems }) => problems.length === 0);
  return { passed, verdict, groups: packages, notices, exceptions, json: report };
}

/** The level of a change in a group. */
export function levelOf({ verdict, breaksReleased }: Group['changes'][number], group: Group): Level {
  const { declared, baselineVersion } = group;
  const isUndeclared = declared !== null && compareVerdicts(declared, bumpFor(verdict, baselineVersion)) < 0;
  if (breaksReleased === true || isUndeclared) return 'error';
  return verdict === 'major' ? 'warning' : 'note';
}

export const nothingEnforced = 'No bump was declared, so nothing was enforced: pass --declared.';

/** One sentence: whether the check passed, and why not. */
export function summaryOf({ passed, groups, verdict, exceptions }: Outcome): string {
  const [first] = groups;
  if (groups.length === 1 && first?.name === null) {
    const [problem] = first.problems;
    if (problem !== undefined) return `Failed: ${problem.message}`;
    if (first.declared !== null) return `Passed: the declared bump is ${first.declared}.`;
    return `Verdict: ${verdict}. ${nothingEnforced}`;
  }
  if (passed && groups.length === 0) return 'Passed: there is no contract to compare.';
  if (passed && groups.every(({ baseline }) => baseline === null)) return 'Passed: nothing is released yet.';
  if (passed) return 'Passed: every change is declared, and no released version is broken.';
  const failed = groups.filter(({ problems }) => problems.length > 0).map(({ name }) => name ?? '');
  if (exceptions.some(({ status }) => status === 'expired')) failed.push(exceptionsFile);
  return `Failed: ${failed.join(', ')}`;
}

export const expiryText: Readonly<Record<ExceptionStatus, (day: string) => string>> = {
  applied: (day) => `It holds until ${day}.`,
  unused: (day) => `No change needs it. It holds until ${day}. Remove it once the change is released.`,
  new: (day) => `It applies once an earlier pull request has added it, until ${day}.`,
  expired: (day) => `It expired after ${day}. Remove it, or have it approved again.`,
};

/** `new.graphql:8`. */
export function placeOf({ file, line }: Change['location']): string {
  return line === null ? file : `${file}:${line}`;
}

/** The reason for the verdict, and the verdict that an override replaced. */
export function reasonsOf({ why, override }: Change): string {
  return override === undefined ? why : `${override.reason} (The configuration overrides ${override.verdict}: ${why})`;
}
