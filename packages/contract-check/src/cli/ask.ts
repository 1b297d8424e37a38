import { checkBuild } from '../environment/check-build.ts';
import { checkConsumer } from '../environment/check-consumer.ts';
import { checkRetirement } from '../environment/check-retirement.ts';
import { readBuild, readEnvironment, readUses, span } from '../environment/environment.ts';
import type { Build, Environment } from '../environment/generated/files.ts';
import { finder, idOf, nameOf, type Finding, type Party, type Question } from '../environment/question.ts';
import { readGraphqlSchema } from '../graphql/read-contract.ts';
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
    exceptions: exceptions.report([...Map.groupBy(found, (each) => each.package)]),
  };

  /** Checks the builds, the consumer or the version. Returns what they were checked against. */
  function check(evidence: Environment): Party[] {
    const known = [...builds, ...Object.values(evidence.contracts)];
    const about = (id: string, parties: readonly Party[]): Question => {
      const reporter = finder(found, evidence.environment, id);
      return { environment: evidence, parties, known, unusedForMs, maxGapMs, gaps, found: reporter };
    };
    const ofAll = about(version ?? uses?.consumer ?? builds.map(idOf).join(' '), []);
    const live = liveBuilds(ofAll, now);
    const back = options.rollback === undefined ? [] : rollbackTo(options.rollback, ofAll);
    const parties = [...live, ...back];
    const own = builds.map((build): Party => ({ build, label: nameOf(build), isLive: false }));
    // Also each with those before it: they are deployed together, and every order must fit.
    for (const [index, each] of own.entries())
      checkBuild(about(idOf(each.build), [...parties, ...own.slice(0, index)]), each);
    // The rollback follows when the new builds run.
    if (own.length > 0) for (const each of back) checkBuild(about(idOf(each.build), [...live, ...own]), each);
    if (uses !== null) checkConsumer({ ...ofAll, parties }, uses, consumer ?? '');
    if (version !== undefined) checkRetirement({ ...ofAll, parties }, version);
    return parties;
  }

  function rollbackTo(wanted: string, { environment: { contracts }, found: report }: Question): Party[] {
    const stored = Object.values(contracts);
    const isWanted = (build: Build): boolean =>
      idOf(build) === wanted ||
      (build.version === wanted && (uses !== null || builds.some(({ app }) => app === build.app)));
    const back = stored.filter((build) => isWanted(build) && isReadable(build));
    const valid = `Those that are: ${stored.map(idOf).toSorted().join(', ')}.`;
    if (back.length === 0)
      report('deploy/rollbackUnknown', wanted, `Valid contracts of ${wanted} are not in ${file}.`, valid);
    return back.map((build) => ({ build, label: `${nameOf(build)} (rollback)`, isLive: false }));
  }
}

/** The live builds. Reports each process without one, and each expected app without a process. */
function liveBuilds({ environment, found }: Question, now: Date): Party[] {
  const { processes, contracts, expectedApps, environment: place } = environment;
  for (const app of expectedApps)
    if (!processes.some((process) => process.app === app))
      found('deploy/appNotLive', app, `${app} has no live process in ${place}.`, `Start ${app} first.`);
  const groups = Map.groupBy(processes, (process) => `${idOf(process)} ${process.digest}`);
  return [...groups.values()].flatMap((same): Party[] => {
    const [process] = same.toSorted((a, b) => Date.parse(b.lastSeenAt) - Date.parse(a.lastSeenAt));
    if (process === undefined) return [];
    const { digest, lastSeenAt } = process;
    const count = same.length === 1 ? '' : `${same.length} instances, `;
    const label = `${nameOf(process)} (${place}, ${count}seen ${span(now.getTime() - Date.parse(lastSeenAt))} ago)`;
    // A member of every object is no build of this process.
    const build = digest === null || !Object.hasOwn(contracts, digest) ? undefined : contracts[digest];
    const isOwn = build !== undefined && idOf(build) === idOf(process);
    if (isOwn && isReadable(build)) return [{ build, label, isLive: true }];
    const why = `has the build ${digest}, whose contracts are ${isOwn ? 'invalid' : 'missing'}`;
    const message = `${label} ${digest === null ? 'did not register its build' : why}.`;
    found('deploy/buildUnknown', idOf(process), message, 'Replace it by a release that registers.');
    return [];
  });
}

/** Whether the schemas of a build can be compared. */
function isReadable({ serves }: Build): boolean {
  return serves.every(({ file, sdl }) => ifValid(() => readGraphqlSchema([{ file, text: sdl }])) !== null);
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
