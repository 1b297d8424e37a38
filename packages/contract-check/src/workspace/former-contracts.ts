import { posix } from 'node:path';
import { parseConfig } from '../config/read-config.ts';
import { memberOf, type PackageAt } from '../history/reached-version.ts';
import type { CommitFiles, Repository } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import { layoutPatterns } from './snapshot.ts';

/**
 * The names of the packages that lost a contract before the base, or whose contracts a configuration listed. Such a package can
 * have released a contract that the base does not have. The packages around it count as well. Append-only files do not count,
 * because only an exception allows to remove them.
 *
 * @param config the path of the configuration, relative to the folder of the repository object. Null for none.
 */
export function formerOwners(
  repository: Repository,
  { commit }: CommitFiles,
  config: string | null,
): ReadonlySet<string> {
  const listed = config === null ? { packages: [], folders: [] } : listedContracts(repository, commit, config);
  const places = new Map(
    [...lostContracts(repository, commit), ...listed.folders]
      .flatMap((place) => foldersAround(place.path).map((path) => ({ ...place, path })))
      .map((place) => [JSON.stringify(place), { ...place, path: posix.join(place.path, 'package.json') }]),
  );
  const names = repository.textsAt([...places.values()]).flatMap((text) => memberOf(text, 'name') ?? []);
  return new Set([...names, ...listed.packages]);
}

/** The folders of contracts that a commit removed, at the parents of the commit. */
function lostContracts(repository: Repository, base: string): PackageAt[] {
  const flags = ['-m', '--full-history', '--no-renames', '--diff-filter=D', '--name-only', '--relative', '-z'];
  const patterns = layoutPatterns.map((pattern) => `:(glob)${pattern}`);
  let parents: string[] = [];
  return repository
    .git('log', ...flags, '--format=%x01%P', base, '--', ...patterns)
    .split('\0')
    .flatMap((line) => {
      const path = line.replace(/^\n/, '');
      if (!path.startsWith('\x01')) return parents.map((commit) => ({ commit, path: posix.dirname(path) }));
      parents = path.slice(1).split(' ').filter(Boolean);
      return [];
    });
}

/** The packages, and the folders of the contracts without a package, that any version of the configuration lists. */
function listedContracts(
  repository: Repository,
  base: string,
  config: string,
): { readonly packages: readonly string[]; readonly folders: readonly PackageAt[] } {
  const commits = repository
    .git('rev-list', '--full-history', base, '--', `:(literal)${config}`)
    .split('\n')
    .filter(Boolean);
  const texts = repository.textsAt(commits.map((commit) => ({ commit, path: config })));
  const listed = texts.flatMap((text, index) =>
    contractsIn(config, text).map((contracts) => ({ ...contracts, commit: commits[index] ?? '' })),
  );
  return {
    packages: listed.flatMap((each) => each.package ?? []),
    folders: listed
      .filter((each) => each.package === undefined)
      .map(({ commit, folder = '.' }) => ({ commit, path: posix.normalize(folder) })),
  };
}

function contractsIn(file: string, text: string | null) {
  try {
    return text === null ? [] : (parseConfig({ file, text }).contracts ?? []);
  } catch (error) {
    // An older commit may contain an invalid file.
    if (error instanceof InputError) return [];
    throw error;
  }
}

/** A folder and those around it, up to the one of the repository object. */
function foldersAround(folder: string): string[] {
  const steps = folder.split('/');
  return ['.', ...(folder === '.' ? [] : steps.map((_, index) => steps.slice(0, index + 1).join('/')))];
}
