import { join } from 'node:path';
import { InputError } from '../input-error.ts';
import { kindOfPlace } from '../source/place.ts';
import { readFiles } from '../source/read-files.ts';
import { readServedSchema } from '../source/url.ts';
import { contractPackageOf, contractPackagesAmong, type ContractPackage } from './contract-package.ts';
import { releasedSnapshotOf, snapshotOf, type Snapshot } from './snapshot.ts';

/** The released contracts that a package is compared with. */
export interface Baseline {
  /** Shown in the report: `released/`, or the place. */
  readonly name: string;
  readonly snapshot: Snapshot;
  /** The version of the package in the baseline. Null if unknown. Then only changesets declare a bump. */
  readonly version: string | null;
}

/**
 * Finds the baselines of packages: first among `places`, then in the `released/` folder of the package. Returns a function
 * that returns null if a package has none.
 *
 * @param root the folder whose files are read from `git:REF`
 * @param packages the packages of the workspace
 * @throws {InputError} when a place does not exist or contains no contract package.
 */
export async function baselines(
  places: readonly string[],
  root: string,
  packages: readonly ContractPackage[],
): Promise<(contractPackage: ContractPackage) => Baseline | null> {
  const named = new Map<string, Baseline>();
  for (const place of places) {
    const found = kindOfPlace(place) === 'url' ? [await servedPackage(place, packages)] : await packagesAt(place, root);
    for (const { name, version, snapshot, location } of found) named.set(name, { name: location, snapshot, version });
  }
  return ({ name, files }) => {
    const other = named.get(name);
    if (other !== undefined) return other;
    const snapshot = releasedSnapshotOf(files);
    return snapshot === null ? null : { name: 'released/', snapshot, version: null };
  };
}

async function packagesAt(place: string, root: string): Promise<ContractPackage[]> {
  const files = await readFiles(place, root);
  const kind = kindOfPlace(place);
  if (kind === 'git') return contractPackagesAmong(files, (folder) => (folder === '' ? place : `${place}:${folder}`));
  if (kind === 'local') {
    const found = contractPackagesAmong(files, (folder) => join(place, folder));
    if (found.length === 0) throw new InputError(place, null, 'contains no contract package');
    return found;
  }
  const found = contractPackageOf(place, files);
  // The package was released before it had contracts.
  return found === null ? [] : [found];
}

/**
 * The package with the only GraphQL contract of a workspace, as a running server serves it. Its other files are those of the
 * workspace, because a server shows nothing else.
 */
async function servedPackage(url: string, packages: readonly ContractPackage[]): Promise<ContractPackage> {
  const served = packages.flatMap((each) =>
    [...each.snapshot.contracts.values()].filter(({ kind }) => kind === 'graphql').map(({ path }) => ({ each, path })),
  );
  const [only] = served;
  if (only === undefined || served.length > 1) {
    throw new InputError(
      url,
      null,
      `serves one schema, but the workspace has ${served.length} GraphQL contracts. Compare one of them: contract-check graphql --from ${url} --to FILE`,
    );
  }
  const source = await readServedSchema(url);
  const files = new Map([...only.each.files, [only.path, () => source]]);
  const snapshot = snapshotOf(files, only.each.settings.appendOnly);
  return { ...only.each, version: null, location: url, files, snapshot };
}
