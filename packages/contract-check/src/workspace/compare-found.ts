import { join, posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { changeBy } from '../change.ts';
import type { Baseline } from './baseline.ts';
import { filesInGit } from './check-storage.ts';
import { wholeFileChange, type PackageChanges } from './compare-snapshots.ts';
import { compareRelease, type ComparedPackage, type ComparisonContext } from './compared-package.ts';
import { isContractPackage, type PackageSettings, type WorkspacePackage } from './contract-package.ts';
import { pairPackages, type PackagePair } from './listed-contracts.ts';
import { workspaceRules } from './rules.ts';
import { contractPaths, contractsOf, snapshotOf } from './snapshot.ts';

/**
 * Compares the packages that have contracts in the documented folders, in the working tree or where the changes will be
 * merged. It compares none if the configuration lists the contracts, before and after the changes.
 */
export async function compareFound(context: ComparisonContext): Promise<ComparedPackage[]> {
  const { now, merged } = context;
  const listsContracts = [now, merged ?? now].every(({ config }) => config.contracts !== undefined);
  if (listsContracts) return [];
  const [before, after] = [merged?.packages ?? [], now.packages];
  // The working tree has contracts in its folders, or its configuration hides those that were compared before.
  const names = [
    ...[...after, ...before].filter(isContractPackage),
    ...before.filter(({ name }) => merged?.formerOwners.has(name) === true),
  ].map(({ name }) => name);
  const compared: ComparedPackage[] = [];
  for (const name of [...new Set(names)].toSorted()) {
    const [old, next] = [before, after].map((packages) => packages.filter((each) => each.name === name));
    for (const pair of pairPackages(old ?? [], next ?? [], now.members)) {
      const found = await comparePackage(context, pair);
      if (found !== null) compared.push(found);
    }
  }
  return compared;
}

/** Null if the package has no contracts, neither here nor in its latest release, or was never released and no longer exists. */
async function comparePackage(context: ComparisonContext, pair: PackagePair): Promise<ComparedPackage | null> {
  const { before, now } = pair;
  const of = now ?? before;
  if (of === null) return null;
  const { name, path, version } = of;
  const named = context.named.get(name);
  const { baselines, notices } =
    named === undefined && before !== null
      ? await context.lastRelease(before, now)
      : { baselines: [named].flatMap((each) => each ?? []), notices: [] };
  const settings = distinctSettings([of, before ?? of, ...baselines].map((each) => each.settings));
  const appendOnly = [...new Set(settings.flatMap((each) => each.appendOnly))];
  const released = baselines.filter(({ files }) => contractPaths(files, appendOnly).length > 0);
  const hasContracts = [before, now].some((each) => each !== null && isContractPackage(each));
  if (released.length === 0 && (now === null || !hasContracts)) return null;
  return {
    name,
    path,
    version,
    versionBefore: before?.version ?? null,
    servedBy: [...new Set([...of.settings.servedBy, ...(before?.settings.servedBy ?? [])])],
    releases: released.map((baseline) => ({
      name: baseline.name,
      version: baseline.version,
      ...(now === null
        ? removed(context, of)
        : compareRelease(context, {
            name,
            from: snapshotOf(baseline.files, appendOnly),
            to: snapshotOf(now.files, appendOnly),
            folder: path,
            foldersBefore: [before?.path, baseline.path].flatMap((folder) => folder ?? []),
            settings,
            unlistedFor: '',
          })),
    })),
    inGit: now === null ? [] : inGit(now, appendOnly, baselines),
    notices,
  };
}

/** The files of a package, relative to the root, that no release outside of git contains. */
function inGit(now: WorkspacePackage, appendOnly: readonly string[], baselines: readonly Baseline[]): string[] {
  const outside = baselines.flatMap(({ path, files }) => (path === null ? [files] : []));
  const others = ['versions.json', 'package.json'].filter((file) => now.files.has(file));
  return [
    ...filesInGit(contractsOf(now.files, appendOnly), outside),
    ...others.filter((file) => !outside.some((files) => files.has(file))),
  ].map((file) => posix.join(now.path, file));
}

function removed({ root, now }: ComparisonContext, { name, path }: WorkspacePackage): PackageChanges {
  const other = now.packages.find((each) => each.path === path);
  const message =
    other === undefined
      ? 'The package was removed.'
      : `The package was removed: ${path || 'its folder'} is now ${other.name}.`;
  const change = changeBy(workspaceRules.packageRemoved, name, message);
  const found = wholeFileChange(change, 'package.json', null, join(root, path, 'package.json'));
  return { changes: [{ ...found, breaksReleased: true }], notices: [] };
}

/** The strictest comparison results from comparing by each of them. */
function distinctSettings(all: readonly PackageSettings[]): PackageSettings[] {
  return all.filter((settings, index) => all.findIndex((other) => isDeepStrictEqual(other, settings)) === index);
}
