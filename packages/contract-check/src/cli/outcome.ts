import type { Change, Notice, Report } from '../change.ts';
import { declaringIn } from '../declaring.ts';
import { tooSmallBump } from '../remedy.ts';
import type { NamedPackage } from '../source/project.ts';
import { compareVerdicts, type Verdict } from '../verdict.ts';
import { bumpFor } from '../version-bump.ts';
import type { WorkspaceReport } from '../workspace/check-workspace.ts';
import { exceptionsFile, type ExceptionStatus, type ReportedException } from '../workspace/exceptions.ts';

/** `error`: the change fails the check. `warning`: it is major, but allowed. `note`: it is smaller. */
export type Level = 'error' | 'warning' | 'note';

export interface Finding {
  readonly level: Level;
  readonly change: Change;
}

/** A reason why the check fails. */
export interface Failure {
  readonly message: string;
  /** A sentence, then the commands to run. */
  readonly remedy: string;
}

/** The findings of one comparison: of two files, or of one package. */
export interface Group {
  /** The name of the package. Null for a comparison of two files. */
  readonly package: string | null;
  readonly verdict: Verdict;
  /** Null if no bump was declared, so that every verdict passes. */
  readonly declared: Verdict | null;
  /** What the contracts were compared with. Null if nothing was released yet. */
  readonly baseline: string | null;
  readonly findings: readonly Finding[];
  readonly failures: readonly Failure[];
}

/** The result of a check, which every format shows. */
export interface Outcome {
  readonly passed: boolean;
  readonly verdict: Verdict;
  readonly groups: readonly Group[];
  readonly notices: readonly Notice[];
  readonly exceptions: readonly ReportedException[];
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
  const packageVersion = found?.version ?? null;
  const needed = bumpFor(verdict, packageVersion);
  const failures: Failure[] = [];
  if (declared !== null && compareVerdicts(declared, needed) < 0) {
    const packageName = found?.name ?? 'PACKAGE';
    const bump = { packageName, manifest: 'package.json', needed, declared, isOption: true };
    failures.push(tooSmallBump(bump, declaringIn(found?.folder ?? '.')));
  }
  const group = {
    package: null,
    verdict,
    declared,
    baseline,
    findings: changes.map((change) => ({ change, level: levelOf(change, declared, packageVersion) })),
    failures,
  };
  return { passed: failures.length === 0, verdict, groups: [group], notices, exceptions: [], json: report };
}

export function outcomeOfWorkspace(report: WorkspaceReport): Outcome {
  const groups = report.packages.map(
    ({ name, verdict, declared, baseline, baselineVersion, changes, problems }): Group => ({
      package: name,
      verdict,
      declared,
      baseline,
      findings: changes.map((change) => ({
        change,
        level: change.breaksReleased ? 'error' : levelOf(change, declared, baselineVersion),
      })),
      failures: problems,
    }),
  );
  const expired = report.exceptions.some(({ status }) => status === 'expired');
  return {
    passed: !expired && groups.every(({ failures }) => failures.length === 0),
    verdict: report.verdict,
    groups,
    notices: report.notices,
    exceptions: report.exceptions,
    json: report,
  };
}

function levelOf({ verdict }: Change, declared: Verdict | null, version: string | null): Level {
  if (declared !== null && compareVerdicts(declared, bumpFor(verdict, version)) < 0) return 'error';
  return verdict === 'major' ? 'warning' : 'note';
}

export const nothingEnforced = 'No bump was declared, so nothing was enforced: pass --declared.';

/** One sentence: whether the check passed, and why not. */
export function summaryOf({ passed, groups, verdict, exceptions }: Outcome): string {
  const [first] = groups;
  if (groups.length === 1 && first?.package === null) {
    const [failure] = first.failures;
    if (failure !== undefined) return `Failed: ${failure.message}`;
    if (first.declared !== null) return `Passed: the declared bump is ${first.declared}.`;
    return `Verdict: ${verdict}. ${nothingEnforced}`;
  }
  if (passed && groups.length === 0) return 'Passed: there is no contract to compare.';
  if (passed && groups.every(({ baseline }) => baseline === null)) return 'Passed: nothing is released yet.';
  if (passed) return 'Passed: every change is declared, and no released version is broken.';
  const failed = groups.filter(({ failures }) => failures.length > 0).map((group) => group.package ?? '');
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
