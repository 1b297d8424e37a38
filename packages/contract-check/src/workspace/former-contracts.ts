import { posix } from 'node:path';
import { formerlyListed } from '../config/config.ts';
import { memberOf } from '../history/reached-version.ts';
import type { CommitFiles, Repository } from '../history/repository.ts';
import { foldersAround } from '../source/project.ts';
import { isInLayout, layoutPatterns } from './snapshot.ts';

/** The folders that can be that of a package, at a commit. The first one whose `package.json` has a name is. */
interface PossibleOwner {
  readonly commit: string;
  readonly folders: readonly string[];
}

/**
 * The names of the packages that lost a contract before the base, or whose contracts a configuration listed. Such a package can
 * have released a contract that the base does not have. Append-only files do not count, because only an exception allows to
 * remove them.
 *
 * @param config the path of the configuration, relative to the folder of the repository object. Null for none.
 */
export function formerOwners(
  repository: Repository,
  { commit }: CommitFiles,
  config: string | null,
): ReadonlySet<string> {
  const listed = config === null ? { names: [], owners: [] } : listedContracts(repository, commit, config);
  const owners = [...lostContracts(repository, commit), ...listed.owners];
  const places = new Map(
    owners.flatMap((owner) =>
      owner.folders
        .filter((folder) => repository.contains(manifestIn(folder)))
        .map((folder) => [keyOf(owner, folder), { commit: owner.commit, path: manifestIn(folder) }]),
    ),
  );
  const texts = repository.textsAt([...places.values()]);
  const names = new Map([...places.keys()].map((key, index) => [key, memberOf(texts[index] ?? null, 'name')]));
  const found = owners.map((owner) =>
    owner.folders.map((folder) => names.get(keyOf(owner, folder)) ?? null).find((name) => name !== null),
  );
  return new Set([...listed.names, ...found.flatMap((name) => name ?? [])]);
}

function keyOf({ commit }: PossibleOwner, folder: string): string {
  return `${commit}:${folder}`;
}

function manifestIn(folder: string): string {
  return posix.join(folder, 'package.json');
}

/** Of the contracts in the documented folders that a commit removed, at the parents of the commit. */
function lostContracts(repository: Repository, base: string): PossibleOwner[] {
  const flags = ['-m', '--full-history', '--no-renames', '--diff-filter=D', '--name-only', '--relative', '-z'];
  const patterns = layoutPatterns.map((pattern) => `:(glob)${pattern}`);
  let parents: string[] = [];
  return repository
    .git('log', ...flags, '--format=%x01%P', base, '--', ...patterns)
    .split('\0')
    .flatMap((line) => {
      const path = line.replace(/^\n/, '');
      if (path.startsWith('\x01')) {
        parents = path.slice(1).split(' ').filter(Boolean);
        return [];
      }
      const folders = foldersAround(posix.dirname(path)).filter((folder) => isInLayout(posix.relative(folder, path)));
      return parents.flatMap((commit) => folders.map((folder) => ({ commit, folders: [folder] })));
    });
}

/** Of the contracts that any version of the configuration lists, with the names that it states. */
function listedContracts(repository: Repository, base: string, config: string) {
  const commits = repository.lines('rev-list', '--full-history', base, '--', `:(literal)${config}`);
  const texts = repository.textsAt(commits.map((commit) => ({ commit, path: config })));
  const listed = texts.flatMap((text, index) =>
    formerlyListed(text === null ? null : { file: config, text }).map((contracts) => ({
      ...contracts,
      commit: commits[index] ?? '',
    })),
  );
  return {
    names: listed.flatMap((each) => each.package ?? []),
    owners: listed
      .filter((each) => each.package === undefined)
      .map(({ commit, folder = '.' }) => ({
        commit,
        folders: foldersAround(posix.dirname(manifestIn(folder))),
      })),
  };
}
