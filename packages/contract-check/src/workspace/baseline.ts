import { statSync } from 'node:fs';
import { InputError } from '../input-error.ts';
import { filesOfTarball } from '../source/package-files.ts';
import { contractPackageOf, findContractPackages, type ContractPackage } from './contract-package.ts';
import { releasedSnapshotOf, type Snapshot } from './snapshot.ts';

/** The released contracts that a package is compared with. */
export interface Baseline {
  /** Shown in the report: `released/`, or the path of a folder or a tarball. */
  readonly name: string;
  readonly snapshot: Snapshot;
  /** The version of the package in the baseline. Null if unknown. Then only changesets declare a bump. */
  readonly version: string | null;
}

/**
 * Returns a function that finds the baseline of a package: first among `places`, then in the `released/` folder of the
 * package. It returns null if there is none.
 *
 * @throws {InputError} when a place does not exist or contains no contract package.
 */
export function baselines(places: readonly string[]): (contractPackage: ContractPackage) => Baseline | null {
  const named = new Map<string, Baseline>();
  for (const place of places) {
    for (const { name, version, snapshot, location } of packagesAt(place)) {
      named.set(name, { name: location, snapshot, version });
    }
  }
  return ({ name, files }) => {
    const other = named.get(name);
    if (other !== undefined) return other;
    const snapshot = releasedSnapshotOf(files);
    return snapshot === null ? null : { name: 'released/', snapshot, version: null };
  };
}

function packagesAt(place: string): ContractPackage[] {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) throw new InputError(place, null, 'folder or tarball not found');
  if (!stats.isDirectory()) return packageInTarball(place);
  const found = findContractPackages(place);
  if (found.length === 0) throw new InputError(place, null, 'contains no contract package');
  return found;
}

/** Empty if the package was released before it had contracts. */
function packageInTarball(file: string): ContractPackage[] {
  const found = contractPackageOf(file, filesOfTarball(file));
  return found === null ? [] : [found];
}
