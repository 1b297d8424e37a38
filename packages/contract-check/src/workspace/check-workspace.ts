import { join } from 'node:path';
import { largestVerdict, type Notice } from '../change.ts';
import { overridesOf, strictestOf } from '../config/apply-overrides.ts';
import { configFile } from '../config/read-config.ts';
import { declaringIn, type Declaring } from '../declaring.ts';
import { findMergeBase, type WorkflowEnvironment } from '../history/merge-base.ts';
import { openRepository } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import { declareBump, keepReleased, tooSmallBump, type TooSmallBump } from '../remedy.ts';
import { compareVerdicts, largerVerdict, type Verdict } from '../verdict.ts';
import { bumpBetween, bumpFor } from '../version-bump.ts';
import {
  applyExceptions,
  isCoveredByNew,
  reportExceptions,
  type ExceptionList,
  type ReportedException,
} from './apply-exceptions.ts';
import { baselinesAt } from './baseline.ts';
import { readDeclaredBumps } from './changesets.ts';
import { compareConfigured } from './compare-configured.ts';
import { compareFound } from './compare-found.ts';
import type { ContractChange } from './compare-snapshots.ts';
import { combine, type ComparedPackage, type ComparisonContext } from './compared-package.ts';
import { isContractPackage } from './contract-package.ts';
import { dayOf } from './days.ts';
import { exceptionsFile } from './exceptions.ts';
import { lastReleases, remembered } from './last-release.ts';
import { contractsIn } from './listed-contracts.ts';
import { workspaceRules } from './rules.ts';
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
   * Places of released packages, in place of what git shows as the last release: folders, tarballs of `npm pack`, `git:REF`,
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
 * Compares every contract package of a workspace with its last release. What was released, which contracts there are, and
 * how they are compared is read where the changes in the working tree cannot write it: in the commit into which they will be
 * merged, and in what was last released.
 *
 * @throws {InputError} when an input is missing or invalid, or the workspace contains no contract package.
 */
export async function checkWorkspace(options: WorkspaceOptions): Promise<WorkspaceReport> {
  const { root, baselines = [], config = null, base: ref = null, environment = {} } = options;
  const today = options.today ?? dayOf(new Date());
  const now = workingTree(root, config);
  const repository = openRepository(root);
  const base = repository === null ? null : findMergeBase(repository, ref, environment);
  const tree = repository === null || base === null ? null : repository.filesAt(base.commit);
  const merged = repository === null || tree === null ? null : stateAt(root, repository, tree, config);
  const isEmpty = now.config.contracts === undefined && !now.packages.some(isContractPackage);
  if (merged === null && baselines.length === 0 && !isEmpty)
    throw new InputError(
      root,
      null,
      'is not in a git repository, so nothing shows what was last released. Run contract-check in a clone, or name a release with --baseline.',
    );
  if ((now.config.contracts ?? merged?.config.contracts) !== undefined && baselines.length > 0)
    throw new InputError(
      config ?? join(root, configFile),
      null,
      'lists contracts with their baselines, so --baseline has no effect. Remove one of them.',
    );
  const [own, mergedOverrides] = [now, merged ?? now].map((state) => overridesOf(state.config.overrides ?? []));
  const context: ComparisonContext = {
    root,
    today,
    now,
    merged,
    tree,
    named: await baselinesAt(baselines, root, now.packages),
    override: strictestOf(own ?? ((change) => change), mergedOverrides ?? ((change) => change)),
    lastRelease:
      repository === null || tree === null || merged === null
        ? async () => ({ baselines: [], notices: [] })
        : remembered(
            lastReleases({
              repository,
              base: tree,
              registry: merged.config.registry ?? false,
              contractsIn: contractsIn(now, merged),
            }),
          ),
  };
  const compared = combine([...(await compareFound(context)), ...(await compareConfigured(context))]);
  if (compared.length === 0)
    throw new InputError(
      root,
      null,
      `found no package that contains versions/*.graphql, versions/*.manifest.json or json-schema/**/*.json. For another layout, list the contracts in ${configFile}.`,
    );
  const known = [...compared, ...now.packages, ...(merged?.packages ?? [])].map(({ name }) => name);
  const exceptions: ExceptionList = {
    listed: listedExceptions(root, [...known, ...(merged?.exceptions ?? []).map((each) => each.package)]),
    merged: merged?.exceptions ?? null,
  };
  const declaredBumps = options.declared === undefined ? await readDeclaredBumps(root) : null;
  const bumpOf = (name: string): Verdict => declaredBumps?.get(name) ?? options.declared ?? 'none';
  const remedies = { declaring: declaringIn(root), root, isOption: options.declared !== undefined };
  const packages = compared.map((each) => packageReport(each, exceptions, today, bumpOf, remedies));
  const warning = base?.warning ?? null;
  return {
    verdict: packages.reduce<Verdict>((largest, { verdict }) => largerVerdict(largest, verdict), 'none'),
    changes: packages.flatMap(({ name, changes }) => changes.map((change) => ({ package: name, ...change }))),
    notices: [
      ...(warning === null ? [] : [{ location: { file: root, line: null }, message: warning }]),
      ...(merged?.notices ?? []),
      ...compared.flatMap(({ notices }) => notices),
    ],
    packages,
    exceptions: reportExceptions(exceptions, new Map(compared.map(({ name, changes }) => [name, changes])), today),
  };
}

function packageReport(
  compared: ComparedPackage,
  exceptions: ExceptionList,
  today: string,
  bumpOf: (name: string) => Verdict,
  { declaring, root, isOption }: RemedyContext,
): PackageReport {
  const { name, path, version, servedBy, baseline } = compared;
  const found = applyExceptions(compared.changes, exceptions, name, today);
  const pending = bumpOf(name);
  const baselineVersion = baseline?.version ?? version;
  if (baseline === null)
    return {
      name,
      path,
      version,
      baseline: null,
      baselineVersion,
      verdict: 'none',
      declared: pending,
      changes: [],
      problems: [],
    };
  // The sort is stable: changes with the same verdict keep their order.
  const changes = found.toSorted((a, b) => compareVerdicts(b.verdict, a.verdict));
  const verdict = largestVerdict(changes);
  const released = bumpBetween(baseline.version, version);
  // No changeset can name a package that no longer exists.
  const isRemoved = changes.some(({ rule }) => rule === workspaceRules.packageRemoved.id);
  const declared = isRemoved ? 'major' : largerVerdict(pending, released);
  // Once the version is raised, the pending changesets are consumed.
  const servers = released === 'none' ? servedBy : [];
  const isPending = changes.some((change) => isCoveredByNew(change, exceptions, name));
  const target = {
    packageName: name,
    manifest: join(root, path, 'package.json'),
    declared,
    released: version === null ? null : baseline.version,
    isOption,
  };
  const problems = [
    ...problemsOf(changes, target, baselineVersion, declaring).map((problem) =>
      isPending ? withPendingException(problem) : problem,
    ),
    ...serverProblems(servers, changes, bumpOf, declaring),
  ];
  return { name, path, version, baseline: baseline.name, baselineVersion, verdict, declared, changes, problems };
}

function withPendingException({ code, message, remedy }: Problem): Problem {
  return {
    code,
    message: `${message} An exception in ${exceptionsFile} does not apply yet, because the same pull request adds or changes it.`,
    remedy: `merge the exception in an earlier pull request of its own. Otherwise, ${remedy}`,
  };
}

/** What remedies depend on. */
interface RemedyContext {
  readonly declaring: Declaring;
  readonly root: string;
  /** Whether `--declared` states the bumps. */
  readonly isOption: boolean;
}

function serverProblems(
  servers: readonly string[],
  changes: readonly ContractChange[],
  bumpOf: (name: string) => Verdict,
  declaring: Declaring,
): Problem[] {
  const served = largestVerdict(changes.filter(({ file }) => !file.startsWith('api/')));
  if (served === 'none') return [];
  return servers
    .filter((server) => bumpOf(server) === 'none')
    .map((server) => ({
      code: 'server-not-bumped',
      message: `${server} serves this contract, but no bump of it is declared.`,
      remedy: declareBump(server, served, declaring),
    }));
}

function problemsOf(
  changes: readonly ContractChange[],
  target: Omit<TooSmallBump, 'needed'>,
  baselineVersion: string | null,
  declaring: Declaring,
): Problem[] {
  const broken = new Set(changes.filter(({ breaksReleased }) => breaksReleased).map(({ file }) => file));
  const problems: Problem[] = [...broken].map((file) => ({
    code: 'released-version-broken',
    message:
      file === 'package.json'
        ? `${target.packageName} was removed, which no bump allows.`
        : `${file} breaks a released version, which no bump allows.`,
    remedy: keepReleased(target.packageName, file, declaring),
  }));
  // Changes that break a released version do not count, because a larger bump would not fix them.
  const verdict = largestVerdict(changes.filter(({ breaksReleased }) => !breaksReleased));
  const needed = bumpFor(verdict, baselineVersion);
  if (compareVerdicts(target.declared, needed) < 0)
    problems.push({ code: 'bump-too-small', ...tooSmallBump({ ...target, needed }, declaring) });
  return problems;
}
