import { checkBuild } from '../environment/check-build.ts';
import { checkConsumer } from '../environment/check-consumer.ts';
import { checkRetirement } from '../environment/check-retirement.ts';
import { readBuild, readEnvironment, readUses, type Evidence } from '../environment/environment.ts';
import type { Build } from '../environment/generated/files.ts';
import { liveBuilds, schemaProblem, type UnknownApp } from '../environment/live-builds.ts';
import { finder, idOf, nameOf, type Finding, type Party, type Question } from '../environment/question.ts';
import { snapshotFit } from '../environment/snapshot-fit.ts';
import { buildDependsOn, consumerDependsOn, retirementDependsOn } from '../environment/unknown-apps.ts';
import { findMergeBase, type WorkflowEnvironment } from '../history/merge-base.ts';
import { openRepository } from '../history/repository.ts';
import { ifValid } from '../input-error.ts';
import { exceptionsFile, exceptionsOn, parseExceptions, type Exceptions } from '../workspace/exceptions.ts';
import { dayOf } from '../workspace/version-status.ts';
import { listedExceptions } from '../workspace/workspace-state.ts';
import type { Options } from './options.ts';

export type Answer = ReturnType<typeof ask>;

/**
 * Answers `can-i-deploy`, or `can-i-retire` for a version, in the environment of a file.
 *
 * @throws {InputError} when the build or the consumer is invalid. If the file of the environment is, the answer is unknown.
 */
export function ask(
  version: string | undefined,
  file: string,
  options: Options,
  variables: WorkflowEnvironment,
  now: Date,
) {
  const { name, maxAge, maxGap: maxGapMs, unusedFor: unusedForMs, consumer } = options;
  const builds = version === undefined ? options.build.map(readBuild) : [];
  const uses = consumer === undefined ? null : readUses(consumer);
  const subject = version ?? uses?.consumer ?? builds.map(nameOf).join(' and ');
  const found: Finding[] = [];
  const gaps = new Set<string>();
  const unrelated = new Set<string>();
  const environment = ifValid(
    () => readEnvironment(file, name, maxAge, now),
    ({ message }) => {
      finder(found, file, subject)('deploy/environmentUnusable', file, `${message}.`);
      return null;
    },
  );
  const checked = environment === null ? [] : check(environment);
  const today = options.today ?? dayOf(now);
  const exceptions = environment === null ? exceptionsOn(today, [], null) : exceptionsIn(options, variables, today);
  const { overruled = [], left = [] } = Object.groupBy(found, (finding) =>
    exceptions.appliedTo(finding.package, finding) === undefined ? 'left' : 'overruled',
  );
  const findings = left.toSorted((a, b) => a.answer.localeCompare(b.answer));
  return {
    answer: findings[0]?.answer ?? ('yes' as const),
    subject,
    question: version === undefined ? 'can-i-deploy' : 'can-i-retire',
    environment: environment?.environment ?? file,
    /** Null if the file is no evidence or earlier than cells. */
    cell: environment?.cell ?? null,
    /** Null if the file is no evidence. */
    takenAt: environment?.takenAt ?? null,
    checkedAgainst: checked.map(({ label }) => label),
    findings,
    overruled,
    gaps: [...gaps],
    /** Why apps are unknown on which the answer does not depend. */
    unrelated: [...unrelated],
    exceptions: exceptions.report([...Map.groupBy(found, (each) => each.package)]),
  };

  /** Checks the builds, the consumer or the version. Returns what they were checked against. */
  function check(evidence: Evidence): Party[] {
    const known = [...builds, ...evidence.builds.values()];
    const fitOf = snapshotFit();
    const about = (id: string, parties: readonly Party[]): Question => {
      const reporter = finder(found, evidence.environment, id);
      return { environment: evidence, parties, known, unusedForMs, maxGapMs, fitOf, gaps, found: reporter };
    };
    const ofAll = about(version ?? uses?.consumer ?? builds.map(idOf).join(' '), []);
    const { processes, expectedApps, environment: place } = evidence;
    for (const app of expectedApps)
      if (!processes.some((process) => process.app === app))
        ofAll.found('deploy/appNotLive', app, `${app} has no live process in ${place}.`, `Start ${app} first.`);
    const { live, unknown } = liveBuilds(evidence, now);
    for (const { message } of unknown) unrelated.add(message);
    /** Reports the unknown apps on which an answer depends. */
    const report = (question: Question, depends: (app: UnknownApp) => boolean): void => {
      for (const each of unknown.filter(depends)) {
        question.found('deploy/buildUnknown', each.id, each.message, each.first);
        unrelated.delete(each.message);
      }
    };
    const checkEach = (own: Party, others: readonly Party[]): void => {
      const question = about(idOf(own.build), others);
      report(question, (app) => buildDependsOn(question, own, app));
      checkBuild(question, own);
    };
    const back = options.rollback === undefined ? [] : rollbackTo(options.rollback, ofAll);
    const parties = [...live, ...back];
    const own = builds.map((build): Party => ({ build, label: nameOf(build), isLive: false }));
    // Also each with those before it: they are deployed together, and every order must fit.
    for (const [index, each] of own.entries()) checkEach(each, [...parties, ...own.slice(0, index)]);
    // The rollback follows when the new builds run.
    if (own.length > 0) for (const each of back) checkEach(each, [...live, ...own]);
    const question = { ...ofAll, parties };
    if (uses !== null) {
      report(question, (app) => consumerDependsOn(question, uses, app));
      checkConsumer(question, uses, consumer ?? '');
    }
    if (version !== undefined) {
      report(question, (app) => retirementDependsOn(question, version, app));
      checkRetirement(question, version);
    }
    return parties;
  }

  function rollbackTo(wanted: string, { environment: { builds: known }, found: report }: Question): Party[] {
    const stored = [...known.values()];
    const isWanted = (build: Build): boolean =>
      idOf(build) === wanted ||
      (build.version === wanted && (uses !== null || builds.some(({ app }) => app === build.app)));
    const back = stored.filter((build) => isWanted(build) && schemaProblem(build) === null);
    const valid = `Those that are: ${stored.map(idOf).toSorted().join(', ')}.`;
    if (back.length === 0)
      report('deploy/rollbackUnknown', wanted, `Valid contracts of ${wanted} are not in ${file}.`, valid);
    return back.map((build) => ({ build, label: `${nameOf(build)} (rollback)`, isLive: false }));
  }
}

/** The exceptions for answers. Each has to be merged before it applies, as those for changes. */
function exceptionsIn({ root, base }: Options, variables: WorkflowEnvironment, today: string): Exceptions {
  const listed = listedExceptions(root, null);
  const repository = listed.length === 0 ? null : openRepository(root);
  if (repository === null) return exceptionsOn(today, listed, null);
  const { commit, target } = findMergeBase(repository, base ?? null, variables);
  const sources = [...new Set([commit, target])].map((id) => repository.filesAt(id).fileAt(exceptionsFile));
  const merged = sources.map((source) => (source === null ? [] : parseExceptions(source, null)));
  return exceptionsOn(today, listed, merged);
}
