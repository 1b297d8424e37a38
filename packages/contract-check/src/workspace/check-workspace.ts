import { join } from 'node:path';
import { fileNotice, largestVerdict, type Notice } from '../change.ts';
import { overridesOf, strictest } from '../config/apply-overrides.ts';
import { configFile } from '../config/config.ts';
import { declaringIn, type Declaring } from '../declaring.ts';
import { findMergeBase, unshallow, type WorkflowEnvironment } from '../history/merge-base.ts';
import { filesLeftOut, openRepository } from '../history/repository.ts';
import { failAt } from '../input-error.ts';
import { brokenRelease, declareBump, tooSmallBump } from '../remedy.ts';
import { compareVerdicts, largerVerdict, type Verdict } from '../verdict.ts';
import { bumpBetween, bumpFor, isPlaceholder, isReleaseVersion, isVersion } from '../version-bump.ts';
import { baselinesAt } from './baseline.ts';
import { readDeclaredBumps } from './changesets.ts';
import { checkStorage, checkTracked } from './check-storage.ts';
import { compareConfigured } from './compare-configured.ts';
import { compareFound } from './compare-found.ts';
import type { ContractChange } from './compare-snapshots.ts';
import {
  combine,
  uniteChanges,
  type ComparedPackage,
  type ComparedRelease,
  type ComparisonContext,
} from './compared-package.ts';
import { isContractPackage, withSkippedMembers, workspaceFiles } from './contract-package.ts';
import { exceptionsFile, exceptionsOn, type Exceptions, type ReportedException } from './exceptions.ts';
import { lastReleases, npmrcAt } from './last-release.ts';
import { contractsIn } from './listed-contracts.ts';
import { workspaceRules } from './rules.ts';
import { dayOf } from './version-status.ts';
import { listedExceptions, stateAt, workingTree } from './workspace-state.ts';

export interface WorkspaceOptions {
  /** The root folder of the workspace. It contains `.changeset/` and the packages. */
  readonly root: string;
  /**
   * The branch or commit into which the changes will be merged. Defaults to the target of the pull request in a GitHub
   * workflow, then to `origin/HEAD`, then to HEAD.
   */
  readonly base?: string;
  /** The variables of a GitHub workflow. Empty by default. */
  readonly environment?: WorkflowEnvironment;
  /**
   * Places of released packages, in place of what git shows as the latest release: folders, tarballs of `npm pack`, `git:REF`,
   * `npm:NAME@RANGE`, or the URL of a server that serves the only GraphQL contract.
   */
  readonly baselines?: readonly string[];
  /** The day of the release, `YYYY-MM-DD` in UTC. Defaults to the current day. */
  readonly today?: string;
  /** The path of the configuration. Defaults to `contract-check.json` in the root, if it exists. */
  readonly config?: string;
  /** The bump of every package. By default, the pending changesets declare the bumps. */
  readonly declared?: Verdict;
}

export interface PackageReport {
  readonly name: string;
  /** Relative to the root, with `/` as the separator. */
  readonly path: string;
  /** From `package.json` in the working tree. Null if it has no version. */
  readonly version: string | null;
  /** What was last released: a tag, a commit, or a place. Null before the first release, when every change is allowed. */
  readonly baseline: string | null;
  /** The version of the baseline, or else of `package.json`. Null if neither is known. */
  readonly baselineVersion: string | null;
  /** The largest verdict of the changes. Below 1.0.0, a smaller bump is enough. */
  readonly verdict: Verdict;
  /** The larger of the bump that pending changesets declare and the bump of the version since the baseline. */
  readonly declared: Verdict;
  readonly changes: readonly ContractChange[];
  readonly problems: readonly Problem[];
}

/**
 * A reason why the check of a package fails. `released-version-broken`: a change breaks a released version, which no
 * bump allows. `bump-too-small`: the declared bump is smaller than the bump that the other changes need.
 * `server-not-bumped`: no changeset releases the package that serves the changed contract.
 */
export interface Problem {
  readonly code: 'released-version-broken' | 'bump-too-small' | 'server-not-bumped';
  readonly message: string;
  /** How to fix the problem. The lines after the first are commands. */
  readonly remedy: string;
}

export interface WorkspaceReport {
  /** The largest verdict of all packages. */
  readonly verdict: Verdict;
  /** All changes of all packages. */
  readonly changes: readonly (ContractChange & { readonly package: string })[];
  /** The parts of contracts that the comparison did not understand. */
  readonly notices: readonly Notice[];
  readonly packages: readonly PackageReport[];
  /** Every exception of the workspace. An expired one fails the check, even if no change needs it. */
  readonly exceptions: readonly ReportedException[];
}

/**
 * Compares every contract package of a workspace with its latest release. What was released, which contracts there are, and
 * how they are compared is read where the changes in the working tree cannot write it: in the commit into which they will be
 * merged, and in what was last released.
 *
 * @throws {InputError} when an input is missing or invalid, or the workspace contains no contract package.
 */
export async function checkWorkspace(options: WorkspaceOptions): Promise<WorkspaceReport> {
  const { root, baselines = [], config = null, base: ref = null, environment = {} } = options;
  const today = options.today ?? dayOf(new Date());
  const leftOut = filesLeftOut(root);
  const files = workspaceFiles(root, leftOut);
  const repository = openRepository(root);
  const tracked = repository === null ? [] : repository.filesAt(repository.head).files.keys();
  const now = workingTree(root, withSkippedMembers(files, root, tracked), config);
  if (repository !== null) checkStorage(root, now, repository);
  const base = repository && findMergeBase(repository, ref, environment);
  const merged = repository && base && stateAt(root, repository, base, config);
  const isEmpty = now.config.contracts === undefined && !now.packages.some(isContractPackage);
  if (merged === null && baselines.length === 0 && !isEmpty)
    failAt(
      root,
      'is not in a git repository, so nothing shows what was last released. Run contract-check in a clone, or name a release with --baseline.',
    );
  if ((now.config.contracts ?? merged?.config.contracts) !== undefined && baselines.length > 0)
    failAt(
      config ?? join(root, configFile),
      'lists contracts with their baselines, so --baseline has no effect. Remove one of them.',
    );
  const own = overridesOf(now.config.overrides ?? []);
  const mergedOverrides = (merged?.permissions ?? []).map(({ overrides }) => overridesOf(overrides));
  const context: ComparisonContext = {
    root,
    today,
    now,
    leftOut,
    merged,
    named: await baselinesAt(baselines, root, merged === null ? undefined : npmrcAt(merged.tree), now.packages),
    override: (change, file, before) =>
      strictest([own(change, file), ...mergedOverrides.flatMap((apply) => before.map((path) => apply(change, path)))]),
    lastRelease:
      merged === null ? async () => ({ baselines: [], notices: [] }) : lastReleases(merged, contractsIn(now, merged)),
  };
  const compared = combine([...(await compareFound(context)), ...(await compareConfigured(context))]);
  if (compared.length === 0 && merged?.hadContracts !== true)
    failAt(
      root,
      `found no package that contains versions/*.graphql, versions/*.manifest.json, json-schema/**/*.json or api/**/*.api.json, or lists files under contractCheck.appendOnly in its package.json. For another layout, list the contracts in ${configFile}: contract-check find prints it.${repository?.isShallow === true ? ` If they were removed, the clone does not show it, because it is shallow. ${unshallow}` : ''}`,
    );
  const inGit = compared.flatMap((each) => each.inGit);
  if (merged !== null) checkTracked(root, inGit, merged);
  for (const { path, version } of compared)
    if (version !== null && !isVersion(version))
      failAt(
        join(root, path, 'package.json'),
        `"version" is ${JSON.stringify(version)}, so nothing shows which bump it makes. Write three numbers, such as 1.2.0.`,
      );
  const mergedExceptions = merged?.permissions.map((each) => each.exceptions) ?? null;
  const known = [
    ...[...compared, ...now.packages, ...(merged?.packages ?? [])].map(({ name }) => name),
    ...(mergedExceptions ?? []).flat().map((each) => each.package),
  ];
  const exceptions = exceptionsOn(today, listedExceptions(root, known), mergedExceptions);
  const declaredBumps = options.declared === undefined ? await readDeclaredBumps(root) : null;
  const bumpOf = (name: string): Verdict => declaredBumps?.get(name) ?? options.declared ?? 'none';
  const isOption = options.declared !== undefined;
  const judging: Judging = { root, exceptions, bumpOf, isOption, declaring: declaringIn(root) };
  const packages = compared.map((each) => packageReport(each, judging));
  return {
    verdict: largestVerdict(packages),
    changes: packages.flatMap(({ name, changes }) => changes.map((change) => ({ package: name, ...change }))),
    notices: [
      ...[base?.warning, compared.length === 0 ? nothingCompared : null].flatMap((message) =>
        message ? fileNotice(root, message) : [],
      ),
      ...(merged?.notices ?? []),
      ...sharedNames(compared),
      ...compared.flatMap((each) => [...each.notices, ...uniteChanges(each.releases).notices]),
    ],
    packages,
    exceptions: exceptions.report(
      compared.map(({ name, releases }) => [name, uniteChanges(releases).changes] as const),
    ),
  };
}

const nothingCompared = `Nothing is compared: the contracts were removed, here or before, and no latest release of a package has one. List new contracts in ${configFile}, or no longer run this command.`;

/** A fixture can have the name of a package. */
function sharedNames(compared: readonly ComparedPackage[]): Notice[] {
  return [...Map.groupBy(compared, ({ name }) => name)].flatMap(([name, all]) => {
    const folders = all.map(({ path }) => path || '.');
    const message = `${folders.join(' and ')} contain packages with the name ${name}. Each is compared with its own latest release.`;
    return all.length < 2 ? [] : [fileNotice(folders[0] ?? '', message)];
  });
}

/** What the verdict on a package depends on besides its changes. */
interface Judging {
  readonly root: string;
  readonly exceptions: Exceptions;
  readonly declaring: Declaring;
  /** Whether `--declared` states the bumps. */
  readonly isOption: boolean;
  /** The declared bump of a package. */
  readonly bumpOf: (name: string) => Verdict;
}

function packageReport(compared: ComparedPackage, judging: Judging): PackageReport {
  const { name, path, version, releases } = compared;
  const { root, exceptions, declaring, isOption } = judging;
  const since = releases.map((release) => sinceRelease(compared, release, judging));
  // The sort is stable: changes with the same verdict keep their order.
  const changes = uniteChanges(since).changes.toSorted((a, b) => compareVerdicts(b.verdict, a.verdict));
  const tooSmall = since.find(({ needed, declared }) => compareVerdicts(declared, needed) < 0);
  const decisive = tooSmall ?? since[0];
  const isPending = changes.some((change) => exceptions.isPendingFor(name, change));
  const broken = new Set(changes.filter(({ breaksReleased }) => breaksReleased).map(({ file }) => file));
  const problems: Problem[] = [...broken].map((file) => ({
    code: 'released-version-broken',
    ...brokenRelease(name, file, declaring),
  }));
  if (tooSmall !== undefined) {
    const { needed, declared, isRaised } = tooSmall;
    const [released, raisedTo] = [isPlaceholder(version) ? null : tooSmall.version, isRaised ? version : null];
    const bump = { packageName: name, manifest: join(root, path, 'package.json'), needed, declared, isOption };
    problems.push({ code: 'bump-too-small', ...tooSmallBump({ ...bump, released, raisedTo }, declaring) });
  }
  // Once the version is raised, the pending changesets are consumed.
  const wasRaised = since.some((each) => bumpBetween(each.version, version) !== 'none');
  return {
    name,
    path,
    version,
    baseline: releases.length === 0 ? null : [...new Set(releases.map((each) => each.name))].join(', '),
    baselineVersion: decisive?.version ?? version,
    verdict: largestVerdict(changes),
    declared: decisive?.declared ?? judging.bumpOf(name),
    changes,
    problems: [
      ...(isPending ? problems.map(withPendingException) : problems),
      ...(wasRaised ? [] : serverProblems(compared.servedBy, changes, judging)),
    ],
  };
}

/** The changes since a release after the exceptions, and the bumps that they need and that is declared. */
function sinceRelease(compared: ComparedPackage, release: ComparedRelease, { exceptions, bumpOf }: Judging) {
  const { name, version, versionBefore } = compared;
  // An excepted change can be released.
  const changes = release.changes.map((change) => {
    const exception = exceptions.appliedTo(name, change);
    if (exception === undefined) return change;
    return { ...change, verdict: exception.verdict ?? change.verdict, breaksReleased: false };
  });
  const released = bumpBetween(release.version ?? versionBefore, version);
  // Pending changesets apply to the release after the one that the changes make.
  const before = versionBefore ?? release.version;
  const isRaised = before !== null && version !== null && version !== before && isReleaseVersion(version);
  // No changeset can name a package that no longer exists.
  const isRemoved = changes.some(({ rule }) => rule === workspaceRules.packageRemoved.id);
  return {
    ...release,
    changes,
    // Changes that break a released version do not count, because a larger bump would not fix them.
    needed: bumpFor(
      largestVerdict(changes.filter(({ breaksReleased }) => !breaksReleased)),
      release.version ?? version,
    ),
    declared: isRemoved ? 'major' : isRaised ? released : largerVerdict(bumpOf(name), released),
    /** Whether the changes raise the version, so that only the raised version declares a bump. */
    isRaised,
  };
}

function withPendingException({ code, message, remedy }: Problem): Problem {
  return {
    code,
    message: `${message} An exception in ${exceptionsFile} does not apply, because it is not in the target branch as it is listed, or was not when the changes began.`,
    remedy: `merge the exception in an earlier, separate pull request, and rebase. Otherwise, ${remedy}`,
  };
}

function serverProblems(servers: readonly string[], changes: readonly ContractChange[], judging: Judging): Problem[] {
  const served = largestVerdict(changes.filter(({ file }) => !file.startsWith('api/')));
  if (served === 'none') return [];
  return servers
    .filter((server) => judging.bumpOf(server) === 'none')
    .map((server) => ({
      code: 'server-not-bumped',
      message: `${server} serves this contract, but no bump of it is declared.`,
      remedy: declareBump(server, served, judging.declaring),
    }));
}
