import { relative } from 'node:path';
import { largestVerdict } from '../change.ts';
import { InputError } from '../input-error.ts';
import { declareBump, describeTooSmallBump, keepReleased } from '../remedy.ts';
import { compareVerdicts, largerVerdict, type Verdict } from '../verdict.ts';
import { applyExceptions, reportExceptions, type ReportedException } from './apply-exceptions.ts';
import { baselines, type Baseline } from './baseline.ts';
import { readDeclaredBumps } from './changesets.ts';
import { compareSnapshots, type ContractChange } from './compare-snapshots.ts';
import { findContractPackages, type ContractPackage } from './contract-package.ts';
import { dayOf } from './days.ts';
import { readExceptions } from './exceptions.ts';
import { bumpBetween } from './version-bump.ts';

export interface WorkspaceOptions {
  /** The root folder of the workspace. It contains `.changeset/` and the packages. */
  readonly root: string;
  /** Folders or tarballs with released packages. A package in none of them is compared with its `released/` folder. */
  readonly baselines?: readonly string[];
  /** The day of the release, `YYYY-MM-DD` in UTC. Defaults to the current day. */
  readonly today?: string;
}

export interface PackageReport {
  readonly name: string;
  /** Relative to the root, with `/` as the separator. */
  readonly path: string;
  /** The baseline: `released/`, a folder or a tarball. Null before the first release, when every change is allowed. */
  readonly baseline: string | null;
  /** The bump that all changes of the package need. */
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
  readonly packages: readonly PackageReport[];
  /** Every exception of the workspace. An expired one fails the check, even if no change needs it. */
  readonly exceptions: readonly ReportedException[];
}

/**
 * Compares every contract package of a workspace with its last release.
 *
 * @throws {InputError} when an input is missing or invalid, or the workspace contains no contract package.
 */
export function checkWorkspace(options: WorkspaceOptions): WorkspaceReport {
  const found = findContractPackages(options.root);
  if (found.length === 0) {
    throw new InputError(
      options.root,
      null,
      'found no package that contains versions/*.graphql, versions/*.manifest.json or json-schema/**/*.json',
    );
  }
  const baselineOf = baselines(options.baselines ?? []);
  const declared = readDeclaredBumps(options.root);
  const today = options.today ?? dayOf(new Date());
  const exceptions = readExceptions(
    options.root,
    found.map(({ name }) => name),
  );
  const compared = new Map<string, ContractChange[]>();
  const packages = found.map((each) => {
    const path = relative(options.root, each.location).replaceAll('\\', '/');
    const baseline = baselineOf(each);
    const all = baseline === null ? [] : compareSnapshots(baseline.snapshot, each.snapshot, each.settings, today);
    compared.set(each.name, all);
    const own = exceptions.filter((exception) => exception.package === each.name);
    const changes = applyExceptions(all, own, today);
    return { path, ...packageReport(each, baseline, changes, declared) };
  });
  return {
    verdict: packages.reduce<Verdict>((largest, { verdict }) => largerVerdict(largest, verdict), 'none'),
    changes: packages.flatMap(({ name, changes }) => changes.map((change) => ({ package: name, ...change }))),
    packages,
    exceptions: reportExceptions(exceptions, compared, today),
  };
}

function packageReport(
  { name, version, settings }: ContractPackage,
  baseline: Baseline | null,
  found: readonly ContractChange[],
  pendingBumps: ReadonlyMap<string, Verdict>,
): Omit<PackageReport, 'path'> {
  const pending = pendingBumps.get(name) ?? 'none';
  if (baseline === null) return { name, baseline: null, verdict: 'none', declared: pending, changes: [], problems: [] };
  // The sort is stable: changes with the same verdict keep their order.
  const changes = found.toSorted((a, b) => compareVerdicts(b.verdict, a.verdict));
  const verdict = largestVerdict(changes);
  const declared = largerVerdict(pending, bumpBetween(baseline.version, version));
  // Compared with a published package, the pending changesets are already released.
  const servers = baseline.version === null ? settings.servedBy : [];
  const problems = [...problemsOf(name, changes, declared), ...serverProblems(servers, changes, pendingBumps)];
  return { name, baseline: baseline.name, verdict, declared, changes, problems };
}

function serverProblems(
  servers: readonly string[],
  changes: readonly ContractChange[],
  pending: ReadonlyMap<string, Verdict>,
): Problem[] {
  const served = largestVerdict(changes.filter(({ file }) => !file.startsWith('api/')));
  if (served === 'none') return [];
  return servers
    .filter((server) => (pending.get(server) ?? 'none') === 'none')
    .map((server) => ({
      code: 'server-not-bumped',
      message: `${server} serves this contract, but no bump of it is declared.`,
      remedy: declareBump(server, served),
    }));
}

function problemsOf(name: string, changes: readonly ContractChange[], declared: Verdict): Problem[] {
  const broken = new Set(changes.filter(({ breaksReleased }) => breaksReleased).map(({ file }) => file));
  const problems: Problem[] = [...broken].map((file) => ({
    code: 'released-version-broken',
    message: `${file} breaks a released version, which no bump allows.`,
    remedy: keepReleased(name, file),
  }));
  // Changes that break a released version do not count, because a larger bump would not fix them.
  const needed = largestVerdict(changes.filter(({ breaksReleased }) => !breaksReleased));
  if (compareVerdicts(declared, needed) < 0) {
    problems.push({
      code: 'bump-too-small',
      message: describeTooSmallBump(needed, declared),
      remedy: declareBump(name, needed),
    });
  }
  return problems;
}
