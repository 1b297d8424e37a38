import { join } from 'node:path';
import type { ConfiguredContracts } from '../config/config.ts';
import type { CommitFiles } from '../history/repository.ts';
import { failAt } from '../input-error.ts';
import type { PackageFiles } from '../source/package-files.ts';
import { kindOfPlace, readFiles } from '../source/read-source.ts';
import { readServedSchema } from '../source/url.ts';
import {
  findPackages,
  isContractPackage,
  packageOfFiles,
  type PackageSettings,
  type WorkspacePackage,
} from './contract-package.ts';
import { contractPaths } from './snapshot.ts';

/** The released contracts that a package is compared with. */
export interface Baseline {
  /** Shown in the report: `tag @books/ledger-api@1.2.0`, a commit, or a place. */
  readonly name: string;
  /** The version of the package in the baseline. Null if unknown. Then only changesets declare a bump. */
  readonly version: string | null;
  readonly settings: PackageSettings;
  /** The folder of the package in git, relative to the root. Null elsewhere. */
  readonly path: string | null;
  /** The files of the package, by path in the package. */
  readonly files: PackageFiles;
  /** All files of the commit. Null at other places, and for a copy in `released/`. */
  readonly tree: CommitFiles | null;
  /** The contracts that the configuration of the commit lists. */
  readonly listed: readonly ConfiguredContracts[];
}

/** The packages at places, by name. `git:REF` is read in the folder `root`, and `npm:` by `npmrc` as in `readFiles`. */
export async function baselinesAt(
  places: readonly string[],
  root: string,
  npmrc: string | null | undefined,
  packages: readonly WorkspacePackage[],
): Promise<ReadonlyMap<string, Baseline>> {
  const named = new Map<string, Baseline>();
  for (const place of places) {
    if (kindOfPlace(place) === 'url') {
      const served = await servedPackage(place, packages);
      named.set(served.name, { ...baselineOf(served, place), version: null, path: null });
    } else
      for (const each of await packagesAt(place, root, npmrc)) {
        const path = kindOfPlace(place) === 'git' ? each.path : null;
        named.set(each.name, { ...baselineOf(each, nameOf(place, each)), path });
      }
  }
  return named;
}

export function baselineOf({ version, settings, path, files }: WorkspacePackage, name: string): Baseline {
  return { name, version, settings, path, files, tree: null, listed: [] };
}

function nameOf(place: string, { path }: WorkspacePackage): string {
  if (path === '') return place;
  return kindOfPlace(place) === 'git' ? `${place}:${path}` : join(place, path);
}

async function packagesAt(place: string, root: string, npmrc: string | null | undefined): Promise<WorkspacePackage[]> {
  const files = await readFiles(place, root, npmrc);
  const kind = kindOfPlace(place);
  // A tarball may be that of a release before the package had contracts.
  if (kind !== 'git' && kind !== 'local') return [packageOfFiles('', files) ?? []].flat();
  const found = findPackages(files).filter(isContractPackage);
  if (kind === 'local' && found.length === 0) failAt(place, 'contains no contract package');
  return found;
}

/** The package with the only GraphQL contract, as a server serves it. Its other files are those of the workspace. */
async function servedPackage(url: string, packages: readonly WorkspacePackage[]): Promise<WorkspacePackage> {
  const served = packages.flatMap((each) =>
    contractPaths(each.files, [])
      .filter((path) => path.endsWith('.graphql'))
      .map((path) => ({ each, path })),
  );
  const [only] = served;
  if (only === undefined || served.length > 1) {
    failAt(
      url,
      `serves one schema, but the workspace has ${served.length} GraphQL contracts. Compare one of them: contract-check graphql --from ${url} --to FILE`,
    );
  }
  const source = await readServedSchema(url);
  return { ...only.each, files: new Map([...only.each.files, [only.path, () => source]]) };
}
