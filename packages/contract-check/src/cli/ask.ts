import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkBuild } from '../environment/check-build.ts';
import { checkConsumer } from '../environment/check-consumer.ts';
import { checkRetirement } from '../environment/check-retirement.ts';
import { readBuild, readEnvironment, readUses, type Build, type Environment } from '../environment/environment.ts';
import {
  foundFor,
  idOf,
  isReadable,
  isReason,
  liveBuilds,
  nameOf,
  type Finding,
  type Question,
} from '../environment/question.ts';
import { findMergeBase, type WorkflowEnvironment } from '../history/merge-base.ts';
import { openRepository } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import { readSourceText } from '../text-file.ts';
import {
  exceptionsFile,
  isHolding,
  parseExceptions,
  reportExceptions,
  type ExceptionList,
  type ReportedException,
} from '../workspace/exceptions.ts';
import { dayOf } from '../workspace/version-status.ts';
import type { Options } from './options.ts';

export interface Answer {
  readonly answer: 'yes' | 'no' | 'unknown';
  /** What may be deployed or retired. */
  readonly subject: string;
  readonly question: 'can-i-deploy' | 'can-i-retire';
  readonly environment: string;
  /** Null if the file is no evidence. */
  readonly takenAt: string | null;
  /** The live builds, and those of a rollback. */
  readonly checkedAgainst: readonly string[];
  readonly findings: readonly Finding[];
  /** Findings that exceptions overrule. */
  readonly overruled: readonly Finding[];
  /** Gaps in the counts of use that are short enough. */
  readonly gaps: readonly string[];
  readonly exceptions: readonly ReportedException[];
}

/**
 * Answers `can-i-deploy`, or `can-i-retire` for a subject.
 *
 * @throws {InputError} when the build or the consumer is invalid. If the file of the environment is, the answer is unknown.
 */
export function ask(subject: string | undefined, options: Options, variables: WorkflowEnvironment, now: Date): Answer {
  const { environment: file, rollback, name, maxGap: maxGapMs, unusedFor: unusedForMs, consumer } = options;
  const builds = subject === undefined ? options.build.map(readBuild) : [];
  const uses = consumer === undefined ? null : readUses(consumer);
  const what = subject ?? uses?.consumer ?? builds.map(nameOf).join(' and ');
  const answered = {
    subject: what,
    question: subject === undefined ? ('can-i-deploy' as const) : ('can-i-retire' as const),
    environment: file,
    takenAt: null,
    checkedAgainst: [],
    overruled: [],
    gaps: [],
    exceptions: [],
  };
  let environment: Environment;
  try {
    const maxAgeMs = options.maxAge ?? (subject === undefined ? 3_600_000 : 86_400_000);
    environment = readEnvironment(file, name, maxAgeMs, now);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const finding: Finding = {
      answer: 'unknown',
      rule: 'deploy/environmentUnusable',
      package: what,
      file,
      coordinate: file,
      message: `${error.message}.`,
      first: '',
    };
    return { ...answered, answer: 'unknown', findings: [finding] };
  }
  const stored = Object.values(environment.contracts);
  const known = [...builds, ...stored];
  const oldestDay = dayOf(new Date(Date.parse(environment.takenAt) - unusedForMs));
  const window = { unusedForMs, oldestDay, maxGapMs };
  const question: Question = { environment, parties: [], known, ...window, findings: [], gaps: new Set() };
  const found = foundFor(question, subject ?? uses?.consumer ?? builds.map(idOf).join(' '));
  const live = liveBuilds(environment, found, now);
  const isBack = (build: Build): boolean =>
    idOf(build) === rollback ||
    (build.version === rollback && (uses !== null || builds.some(({ app }) => app === build.app)));
  const back = stored
    .filter((build) => isBack(build) && isReadable(build))
    .map((build) => ({ build, label: `${nameOf(build)} (rollback)`, isLive: false }));
  if (rollback !== undefined && back.length === 0) {
    const valid = `Those that are: ${stored.map(idOf).toSorted().join(', ')}.`;
    found('unknown', 'deploy/rollbackUnknown', rollback, `Valid contracts of ${rollback} are not in ${file}.`, valid);
  }
  const asked = { ...question, parties: [...live, ...back] };
  const own = builds.map((build) => ({ build, label: nameOf(build), isLive: false }));
  // Also each with those before it: they are deployed together, and every order must fit.
  for (const [index, each] of own.entries())
    checkBuild({ ...asked, parties: [...asked.parties, ...own.slice(0, index)] }, each);
  // The rollback follows when the new builds run.
  if (own.length > 0) for (const each of back) checkBuild({ ...question, parties: [...live, ...own] }, each);
  if (uses !== null) checkConsumer(asked, uses, consumer ?? '');
  if (subject !== undefined) checkRetirement(asked, subject);
  const exceptions = exceptionsIn(options, variables);
  const today = options.today ?? dayOf(now);
  const isOverruled = (finding: Finding): boolean =>
    exceptions.listed.some(
      (exception) => exception.package === finding.package && isHolding(exception, finding, exceptions, today),
    );
  const findings = question.findings
    .filter((finding) => !isOverruled(finding))
    .toSorted((a, b) => (a.answer < b.answer ? -1 : a.answer > b.answer ? 1 : 0));
  return {
    ...answered,
    answer: findings[0]?.answer ?? 'yes',
    environment: environment.environment,
    takenAt: environment.takenAt,
    checkedAgainst: asked.parties.map(({ label }) => label),
    findings,
    overruled: question.findings.filter(isOverruled),
    gaps: [...question.gaps],
    exceptions: reportExceptions(exceptions, [...Map.groupBy(question.findings, (each) => each.package)], today),
  };
}

/** The exceptions for answers. Each has to be merged before it applies, as those for changes. */
function exceptionsIn({ root, base }: Options, variables: WorkflowEnvironment): ExceptionList {
  const file = join(root, exceptionsFile);
  const listed = existsSync(file)
    ? parseExceptions(readSourceText(file), null).filter(({ rule }) => isReason(rule))
    : [];
  const repository = listed.length === 0 ? null : openRepository(root);
  if (repository === null) return { listed, merged: null };
  const { commit, target } = findMergeBase(repository, base ?? null, variables);
  const sources = [...new Set([commit, target])].map((id) => repository.filesAt(id).fileAt(exceptionsFile));
  return { listed, merged: sources.map((source) => (source === null ? [] : parseExceptions(source, null))) };
}
