import { join, posix, relative, sep } from 'node:path';
import { largestVerdict, type Notice } from '../change.ts';
import { overridesOf, type ApplyOverrides } from '../config/apply-overrides.ts';
import { configFile, readConfig } from '../config/read-config.ts';
import { InputError } from '../input-error.ts';
import { declareBump, describeTooSmallBump, keepReleased } from '../remedy.ts';
import { compareVerdicts, largerVerdict, type Verdict } from '../verdict.ts';
import { applyExceptions, reportExceptions, type ReportedException } from './apply-exceptions.ts';
import { baselines } from './baseline.ts';
import { readDeclaredBumps } from './changesets.ts';
import { compareConfigured } from './compare-configured.ts';
import { compareSnapshots, type ContractChange } from './compare-snapshots.ts';
import type { ComparedPackage } from './compared-package.ts';
import { findContractPackages } from './contract-package.ts';
import { dayOf } from './days.ts';
import { readExceptions } from './exceptions.ts';
import { bumpBetween } from './version-bump.ts';

export interface WorkspaceOptions {
  /** The root folder of the workspace. It contains `.changeset/` and the packages. */
  readonly root: string;
  /**
   * Places of released packages: folders, tarballs of `npm pack`, `git:REF`, `npm:NAME@RANGE`, or the URL of a server that
   * serves the only GraphQL contract. A package in none of them is compared with its `released/` folder.
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
  /** The baseline: `released/` or a place. Null before the first release, when every change is allowed. */
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
  /** The parts of contracts that the comparison did not understand. */
  readonly notices: readonly Notice[];
  readonly packages: readonly PackageReport[];
  /** Every exception of the workspace. An expired one fails the check, even if no change needs it. */
  readonly exceptions: readonly ReportedException[];
}

/**
 * Compares every contract package of a workspace with its last release.
 *
 * @throws {InputError} when an input is missing or invalid, or the workspace contains no contract package.
 */
export async function checkWorkspace(options: WorkspaceOptions): Promise<WorkspaceReport> {
  const { root } = options;
  const today = options.today ?? dayOf(new Date());
  const config = readConfig(options.config ?? null, root);
  if (config.contracts !== undefined && (options.baselines ?? []).length > 0)
    throw new InputError(
      options.config ?? join(root, configFile),
      null,
      'lists contracts with their baselines, so --baseline has no effect. Remove one of them.',
    );
  const override = overridesOf(config.overrides ?? []);
  const compared =
    config.contracts === undefined
      ? await compareFound(root, options.baselines ?? [], today, override)
      : await compareConfigured(root, config.contracts, today, override);
  const exceptions = readExceptions(
    root,
    compared.map(({ name }) => name),
  );
  const declaredBumps = options.declared === undefined ? await readDeclaredBumps(root) : null;
  const bumpOf = (name: string): Verdict => declaredBumps?.get(name) ?? options.declared ?? 'none';
  const packages = compared.map((each) => {
    const own = exceptions.filter((exception) => exception.package === each.name);
    return packageReport(each, applyExceptions(each.changes, own, today), bumpOf);
  });
  return {
    verdict: packages.reduce<Verdict>((largest, { verdict }) => largerVerdict(largest, verdict), 'none'),
    changes: packages.flatMap(({ name, changes }) => changes.map((change) => ({ package: name, ...change }))),
    notices: compared.flatMap(({ notices }) => notices),
    packages,
    exceptions: reportExceptions(exceptions, new Map(compared.map(({ name, changes }) => [name, changes])), today),
  };
}

/** Compares the packages that have contracts in the documented folders. */
async function compareFound(
  root: string,
  places: readonly string[],
  today: string,
  override: ApplyOverrides,
): Promise<ComparedPackage[]> {
  const found = findContractPackages(root);
  if (found.length === 0) {
    throw new InputError(
      root,
      null,
      `found no package that contains versions/*.graphql, versions/*.manifest.json or json-schema/**/*.json. For another layout, list the contracts in ${configFile}.`,
    );
  }
  const baselineOf = await baselines(places, root, found);
  return found.map((each) => {
    const { name, version, snapshot, settings, location } = each;
    const path = relative(root, location).replaceAll(sep, '/');
    const baseline = baselineOf(each);
    const { changes, notices } =
      baseline === null
        ? { changes: [], notices: [] }
        : compareSnapshots(baseline.snapshot, snapshot, location, settings, today, (change, file) =>
            override(change, posix.join(path, file)),
          );
    return { name, path, version, servedBy: settings.servedBy, baseline, changes, notices };
  });
}

function packageReport(
  { name, path, version, servedBy, baseline }: ComparedPackage,
  found: readonly ContractChange[],
  bumpOf: (name: string) => Verdict,
): PackageReport {
  const pending = bumpOf(name);
  if (baseline === null)
    return { name, path, baseline: null, verdict: 'none', declared: pending, changes: [], problems: [] };
  // The sort is stable: changes with the same verdict keep their order.
  const changes = found.toSorted((a, b) => compareVerdicts(b.verdict, a.verdict));
  const verdict = largestVerdict(changes);
  const released = bumpBetween(baseline.version, version);
  const declared = largerVerdict(pending, released);
  // Once the version is raised, the pending changesets are consumed.
  const servers = released === 'none' ? servedBy : [];
  const problems = [...problemsOf(name, changes, declared), ...serverProblems(servers, changes, bumpOf)];
  return { name, path, baseline: baseline.name, verdict, declared, changes, problems };
}

function serverProblems(
  servers: readonly string[],
  changes: readonly ContractChange[],
  bumpOf: (name: string) => Verdict,
): Problem[] {
  const served = largestVerdict(changes.filter(({ file }) => !file.startsWith('api/')));
  if (served === 'none') return [];
  return servers
    .filter((server) => bumpOf(server) === 'none')
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
