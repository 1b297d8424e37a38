import { relative } from 'node:path';
import { largestVerdict } from '../change.ts';
import { InputError } from '../input-error.ts';
import { declareBump, keepReleased } from '../remedy.ts';
import { compareVerdicts, largerVerdict, type Verdict } from '../verdict.ts';
import { baselines, type Baseline } from './baseline.ts';
import { readDeclaredBumps } from './changesets.ts';
import { compareSnapshots, type ContractChange } from './compare-snapshots.ts';
import { findContractPackages, type ContractPackage } from './contract-package.ts';
import { bumpBetween } from './version-bump.ts';

export interface WorkspaceOptions {
  /** The workspace's root folder: `.changeset/` is in it, packages are at or below it. */
  readonly root: string;
  /** Folders or tarballs with what was released. A package that is in none of them is compared with its `released/`. */
  readonly baselines?: readonly string[];
}

export interface PackageReport {
  readonly name: string;
  /** Relative to the root, with `/`. */
  readonly path: string;
  /** What it was compared with. Null: nothing is released yet, and every change is allowed. */
  readonly baseline: string | null;
  /** The bump that all its changes together need. */
  readonly verdict: Verdict;
  /** The bump that pending changesets declare, or that its version already made since the baseline. */
  readonly declared: Verdict;
  readonly changes: readonly ContractChange[];
  readonly problems: readonly Problem[];
}

/**
 * `released-version-broken`: a released version lost something; no bump makes that right. `bump-too-small`: the declared
 * bump is smaller than the verdict.
 */
export interface Problem {
  readonly code: 'released-version-broken' | 'bump-too-small';
  readonly message: string;
  /** What to write; lines that follow the first are commands. */
  readonly remedy: string;
}

export interface WorkspaceReport {
  /** The largest of all packages. */
  readonly verdict: Verdict;
  /** All changes of all packages. */
  readonly changes: readonly (ContractChange & { readonly package: string })[];
  readonly packages: readonly PackageReport[];
}

/** Compares every contract package of a workspace with its last release. Throws an InputError. */
export function checkWorkspace(options: WorkspaceOptions): WorkspaceReport {
  const found = findContractPackages(options.root);
  if (found.length === 0) {
    throw new InputError(
      options.root,
      null,
      'no package here holds versions/*.graphql, versions/*.manifest.json or json-schema/**/*.json',
    );
  }
  const baselineOf = baselines(options.baselines ?? []);
  const declared = readDeclaredBumps(options.root);
  const packages = found.map((each) => {
    const path = relative(options.root, each.location).replaceAll('\\', '/');
    return { path, ...checkPackage(each, baselineOf(each), declared.get(each.name) ?? 'none') };
  });
  return {
    verdict: packages.reduce<Verdict>((largest, { verdict }) => largerVerdict(largest, verdict), 'none'),
    changes: packages.flatMap(({ name, changes }) => changes.map((change) => ({ package: name, ...change }))),
    packages,
  };
}

function checkPackage(
  { name, version, snapshot, settings }: ContractPackage,
  baseline: Baseline | null,
  pending: Verdict,
): Omit<PackageReport, 'path'> {
  if (baseline === null) return { name, baseline: null, verdict: 'none', declared: pending, changes: [], problems: [] };
  const found = compareSnapshots(baseline.snapshot, snapshot, settings);
  // The order within a file stays.
  const changes = found.toSorted((a, b) => compareVerdicts(b.verdict, a.verdict));
  const verdict = largestVerdict(changes);
  const declared = largerVerdict(pending, bumpBetween(baseline.version, version));
  return { name, baseline: baseline.name, verdict, declared, changes, problems: problemsOf(name, changes, declared) };
}

function problemsOf(name: string, changes: readonly ContractChange[], declared: Verdict): Problem[] {
  const broken = new Set(changes.filter(({ breaksReleased }) => breaksReleased).map(({ file }) => file));
  const problems: Problem[] = [...broken].map((file) => ({
    code: 'released-version-broken',
    message: `what ${file} has released stays as promised, whatever the bump.`,
    remedy: keepReleased(name, file),
  }));
  // A larger bump is no remedy for what breaks a released version: it does not count here.
  const needed = largestVerdict(changes.filter(({ breaksReleased }) => !breaksReleased));
  if (compareVerdicts(declared, needed) < 0) {
    const message = `the changes need a ${needed} bump, declared is ${declared}.`;
    problems.push({ code: 'bump-too-small', message, remedy: declareBump(name, needed) });
  }
  return problems;
}
