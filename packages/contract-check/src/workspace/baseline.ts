import { statSync } from 'node:fs';
import { InputError } from '../input-error.ts';
import { contractPackageOf, findContractPackages, type ContractPackage } from './contract-package.ts';
import { filesOfTarball } from './package-files.ts';
import { releasedSnapshotOf, type Snapshot } from './snapshot.ts';

/** What a package is compared with. */
export interface Baseline {
  /** For people: `released/`, a folder or a tarball. */
  readonly name: string;
  readonly snapshot: Snapshot;
  /** The version of the package then. Null: not known; the bump is then what the changesets declare. */
  readonly version: string | null;
}

/** Finds what each package is compared with: the named baselines first, then its own `released/`. */
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
  if (stats === undefined) throw new InputError(place, null, 'there is no such folder or tarball');
  const found = stats.isDirectory() ? findContractPackages(place) : packageInTarball(place);
  if (found.length === 0) throw new InputError(place, null, 'holds no contract package');
  return found;
}

function packageInTarball(file: string): ContractPackage[] {
  const found = contractPackageOf(file, filesOfTarball(file));
  return found === null ? [] : [found];
}
