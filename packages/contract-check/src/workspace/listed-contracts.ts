import { posix } from 'node:path';
import picomatch from 'picomatch';
import type { ConfiguredContracts, ContractKind } from '../config/config.ts';
import type { PackageFiles } from '../source/package-files.ts';
import type { ReadPackage, WorkspacePackage } from './contract-package.ts';
import { contractPaths } from './snapshot.ts';
import type { WorkspaceState } from './workspace-state.ts';

/**
 * Whether a workspace compares a file as a contract.
 *
 * @param path relative to the root
 * @param name the package of the contract. Any by default, and of any kind.
 */
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
      for (const file of contractPaths(
        files,
        own.flatMap(({ settings }) => settings.appendOnly),
      ))
        found.add(file);
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
