import { posix } from 'node:path';
import picomatch from 'picomatch';
import type { ConfiguredContracts, ContractKind } from '../config/config.ts';
import { below, type PackageFiles } from '../source/package-files.ts';
import { packageOfFiles, type WorkspacePackage } from './contract-package.ts';
import { contractPaths } from './snapshot.ts';
import type { WorkspaceState } from './workspace-state.ts';

/** Whether a workspace compares a file, by its path relative to the root. */
export function isListed(now: WorkspaceState, kind: ContractKind, path: string): boolean {
  const { contracts } = now.config;
  if (contracts !== undefined)
    return contracts.some((each) => each.kind === kind && contains(each, folderOf(each), path));
  return now.packages.some((each) =>
    contractPaths(each.files, each.settings.appendOnly).includes(posix.relative(each.path, path)),
  );
}

/** The paths of the contracts of a package: those that its entries list, and those in the documented folders. */
export function contractsIn(...states: readonly (WorkspaceState | null)[]) {
  return (name: string, files: PackageFiles): string[] => {
    const found = new Set<string>();
    for (const state of states) {
      if (state === null) continue;
      const { path = '', settings } = state.packages.find((each) => each.name === name) ?? {};
      for (const file of contractPaths(files, settings?.appendOnly ?? [])) found.add(file);
      for (const contracts of state.config.contracts ?? []) {
        const folder = posix.relative(path, folderOf(contracts));
        if (ownerOf(contracts, state.files) !== name || folder.startsWith('..')) continue;
        for (const file of files.keys()) if (contains(contracts, folder, file)) found.add(file);
      }
    }
    return [...found];
  };
}

/** The package whose bump counts for an entry. Null if no `package.json` in or above its folder has a name. */
export function ownerOf(contracts: ConfiguredContracts, files: PackageFiles): string | null {
  return contracts.package ?? nearest(files, folderOf(contracts))?.name ?? null;
}

/** A package by its name: the nearest one, or any of the workspace. */
export function packageNamed(name: string, state: WorkspaceState | null, folder: string): WorkspacePackage | null {
  if (state === null) return null;
  const found = nearest(state.files, folder);
  if (found?.name === name) return found;
  return state.packages.find((each) => each.name === name) ?? null;
}

/** The nearest package with a name, from a folder upwards. */
function nearest(files: PackageFiles, start: string): WorkspacePackage | null {
  for (let folder = start; ; folder = posix.dirname(folder)) {
    const path = folder === '.' ? '' : folder;
    const found = files.has(posix.join(path, 'package.json')) ? packageOfFiles(path, below(files, path)) : null;
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
