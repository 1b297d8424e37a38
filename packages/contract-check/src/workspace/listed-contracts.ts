import { posix } from 'node:path';
import picomatch from 'picomatch';
import type { ConfiguredContracts, ContractKind } from '../config/config.ts';
import type { PackageFiles } from '../source/package-files.ts';
import type { ReadPackage, WorkspacePackage } from './contract-package.ts';
import { contractPaths } from './snapshot.ts';
import type { WorkspaceMembers } from './workspace-members.ts';
import type { WorkspaceState } from './workspace-state.ts';

/** Whether a workspace compares the file at a path from the root as a contract: by default, of any package and kind. */
export function isListed(now: WorkspaceState, path: string, name?: string, kind?: ContractKind): boolean {
  const isOf = (owner: string | null): boolean => name === undefined || owner === name;
  return now.config.contracts === undefined
    ? now.packages.some(
        (each) =>
          isOf(each.name) &&
          contractPaths(each.files, each.settings.appendOnly).includes(posix.relative(each.path, path)),
      )
    : now.config.contracts.some(
        (each) =>
          each.kind === (kind ?? each.kind) &&
          contains(each, folderOf(each), path) &&
          isOf(ownerOf(each, now.packageIn)),
      );
}

/** The paths of the contracts of a package: those that its entries list, and those in the documented folders. */
export function contractsIn(...states: readonly (WorkspaceState | null)[]) {
  return (name: string, files: PackageFiles): string[] => {
    const found = new Set<string>();
    for (const state of states) {
      if (state === null) continue;
      const own = state.packages.filter((each) => each.name === name);
      const appendOnly = own.flatMap(({ settings }) => settings.appendOnly);
      for (const file of contractPaths(files, appendOnly)) found.add(file);
      for (const contracts of state.config.contracts ?? []) {
        if (ownerOf(contracts, state.packageIn) !== name) continue;
        for (const { path } of packagesNamed(name, state, folderOf(contracts))) {
          const folder = posix.relative(path, folderOf(contracts));
          if (folder.startsWith('..')) continue;
          for (const file of files.keys()) if (contains(contracts, folder, file)) found.add(file);
        }
      }
    }
    return [...found];
  };
}

/** The package whose bump counts for an entry. Null if no `package.json` in or above its folder has a name. */
export function ownerOf(contracts: ConfiguredContracts, packageIn: ReadPackage): string | null {
  return contracts.package ?? nearest(packageIn, folderOf(contracts))?.name ?? null;
}

/** The packages with a name: the nearest one, then the others of the workspace. */
export function packagesNamed(name: string, state: WorkspaceState, folder: string): WorkspacePackage[] {
  const found = nearest(state.packageIn, folder);
  const others = state.packages.filter((each) => each.name === name && each.path !== found?.path);
  return found?.name === name ? [found, ...others] : others;
}

/** The nearest package with a name, from a folder upwards. */
export function nearest(packageIn: ReadPackage, start: string): WorkspacePackage | null {
  for (let folder = start; ; folder = posix.dirname(folder)) {
    const path = folder === '.' ? '' : folder;
    const found = packageIn(path);
    if (found !== null || path === '') return found;
  }
}

/** Relative to the root. Empty for the root. */
export function folderOf({ folder = '.' }: ConfiguredContracts): string {
  return normalized(folder);
}

/** Empty for the root. */
export function normalized(path: string): string {
  return posix.normalize(path).replace(/\/$|^\.\/?$/, '');
}

function contains({ files }: ConfiguredContracts, folder: string, path: string): boolean {
  const rest = posix.relative(folder, path);
  return !rest.startsWith('..') && picomatch.isMatch(rest, [...files]);
}

/** A package where the changes will be merged, and in the working tree. One of them is null if it does not exist there. */
export interface PackagePair {
  readonly before: WorkspacePackage | null;
  readonly now: WorkspacePackage | null;
}

/**
 * Pairs the packages of one name. Usually there is one, but a fixture can have the name of a package. A package keeps its folder, or
 * it moves to a folder that is new. If there are several such folders, or none but those of other packages with the name, it is
 * paired with each of them: a copy cannot take its place. Nor can one that the root lists as a member of the workspace, so that
 * it is published, while the package stays where it is.
 */
export function pairPackages(
  before: readonly WorkspacePackage[],
  now: readonly WorkspacePackage[],
  members: WorkspaceMembers,
): PackagePair[] {
  const folders = new Set(before.map(({ path }) => path));
  const added = now.filter(({ path }) => !folders.has(path));
  const pairs = before.flatMap((old): PackagePair[] => {
    const same = now.filter(({ path }) => path === old.path);
    const [found = []] = [same, added, now].filter((candidates) => candidates.length > 0);
    const all = new Set([...found, ...added.filter(({ path }) => members.includes(path))]);
    return all.size === 0 ? [{ before: old, now: null }] : [...all].map((each) => ({ before: old, now: each }));
  });
  const paired = new Set(pairs.map((pair) => pair.now));
  return [...pairs, ...now.filter((each) => !paired.has(each)).map((each) => ({ before: null, now: each }))];
}
