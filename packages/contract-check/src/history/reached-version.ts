import { posix } from 'node:path';
import { failAt } from '../input-error.ts';
import { remembered } from '../remembered.ts';
import { jsonObjectIn } from '../source/project.ts';
import { isReleaseVersion, publishedVersion } from '../version-bump.ts';
import { unshallow } from './merge-base.ts';
import type { Repository } from './repository.ts';

/** The `package.json` of a package at a commit. */
export interface PackageAt {
  readonly commit: string;
  /** The folder of the package, relative to the folder of the repository object. Empty for that folder. */
  readonly path: string;
}

interface Point extends PackageAt {
  /** Null if the commit has no valid package.json with the name and a version. */
  readonly version: string | null;
  /** The nearest older commits that changed or removed the file. Empty at the end of its history. */
  readonly older: readonly string[];
}

/**
 * Finds where a package reached each of its versions. Follows all parents: in the first parents of a branch that merged the main
 * branch and became it, the merge seems to raise the version, with the unreleased changes of the branch. Looks at the whole
 * history, because a version can be lowered, and raised again with other contracts. Skips pre-releases and 0.0.0. Follows a
 * package whose folder was renamed.
 *
 * @param packagesAt the result of `packagesByFolder`
 */
export function findReachedVersions(repository: Repository, packagesAt: PackagesAt, name: string, start: PackageAt) {
  const history = historyOf(repository, packagesAt, name);
  const released = new Map<string, Point[]>();
  const newer = new Map<string, Point[]>();
  visit([history.pointAt(start)], (point) => {
    if (point.version !== null && isReleaseVersion(point.version))
      released.set(point.version, [...(released.get(point.version) ?? []), point]);
    const parents = history.parentsOf(point);
    for (const parent of parents) newer.set(keyOf(parent), [...(newer.get(keyOf(parent)) ?? []), point]);
    return parents;
  });
  const newerThan = (point: Point): readonly Point[] => newer.get(keyOf(point)) ?? [];
  return new Map(
    [...released].map(([version, points]) => {
      const later = visit(points.flatMap(newerThan), newerThan);
      const oldest = points.filter((point) => !later.has(keyOf(point)));
      const raised = oldest.filter((point) => history.parentsOf(point).length > 0);
      const reached = {
        /** The commits with the version that have no older commit with it. Several if branches reached it independently. */
        at: raised.length > 0 ? raised : oldest,
        /** Whether the package has had the version since its first commit, so that no commit raises it. */
        isFirst: raised.length === 0,
      };
      return [version, reached] as const;
    }),
  );
}

/** Visits points, then those that `next` returns, each once. Returns the keys of all. */
function visit(start: readonly Point[], next: (point: Point) => readonly Point[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const pending = [...start];
  // Appended to during the loop.
  for (const point of pending) {
    const key = keyOf(point);
    if (seen.has(key)) continue;
    seen.add(key);
    pending.push(...next(point));
  }
  return seen;
}

function keyOf({ commit, path }: PackageAt): string {
  return `${commit}:${path}`;
}

/** The name of the package in each folder of a commit. */
export type PackagesAt = (commit: string) => ReadonlyMap<string, string>;

/** Reads the packages of each commit once. */
export function packagesByFolder(repository: Repository): PackagesAt {
  return remembered((commit) => {
    const manifests = [...repository.filesAt(commit).files.keys()].filter(
      (path) => posix.basename(path) === 'package.json',
    );
    const texts = repository.textsAt(manifests.map((path) => ({ commit, path })));
    const names = manifests.flatMap((path, index) => {
      const name = memberOf(texts[index] ?? null, 'name');
      return name === null ? [] : [[path === 'package.json' ? '' : posix.dirname(path), name] as const];
    });
    return new Map(names);
  });
}

function historyOf(repository: Repository, packagesAt: PackagesAt, name: string) {
  const points = new Map<string, Point>();

  /** Reads the history of one path from a commit on. Returns the newest commit in it. */
  function read({ commit, path }: PackageAt): string {
    const file = posix.join(path, 'package.json');
    // Simplified merges keep each commit at which a version came in, on every branch.
    const flags = ['--topo-order', '--full-history', '--simplify-merges', '--parents'];
    const lines = repository.lines('rev-list', ...flags, commit, '--', `:(literal)${file}`);
    const commits = lines.map((line) => line.split(' '));
    const texts = repository.textsAt(commits.map(([id = '']) => ({ commit: id, path: file })));
    for (const [index, [id = '', ...older]] of commits.entries()) {
      const text = texts[index] ?? null;
      const version = memberOf(text, 'name') === name ? publishedVersion(memberOf(text, 'version')) : null;
      const point = { commit: id, path, version, older };
      points.set(keyOf(point), point);
    }
    return commits[0]?.[0] ?? commit;
  }

  function pointAt(place: PackageAt): Point {
    const newest = { path: place.path, commit: read(place) };
    return points.get(keyOf(newest)) ?? { ...newest, version: null, older: [] };
  }

  /** The package in another folder, in the parents of the commit that moved it to this one. */
  function beforeRename({ commit }: PackageAt): Point[] {
    return repository.parentsOf(commit).flatMap((id) =>
      // A package that the commit keeps was copied, for example to a fixture. The copy has its own history.
      [...foldersAt(id)].filter((path) => !foldersAt(commit).has(path)).map((path) => pointAt({ commit: id, path })),
    );
  }

  function foldersAt(commit: string): Set<string> {
    return new Set([...packagesAt(commit)].filter((each) => each[1] === name).map(([path]) => path));
  }

  return {
    pointAt,
    /** The nearest older commits that changed or removed the `package.json`. Empty at the first commit of the package. */
    parentsOf(point: Point): readonly Point[] {
      const own = point.older.flatMap((commit) => points.get(keyOf({ commit, path: point.path })) ?? []);
      if (own.some(({ version }) => version !== null)) return own;
      if (own.length === 0 && repository.isShallow && isBoundary(repository, point.commit))
        failAt(
          posix.join(point.path, 'package.json'),
          `the clone is shallow and does not contain the latest release of ${name}. ${unshallow}`,
        );
      return [...own, ...beforeRename(point)];
    },
  };
}

/** Whether the clone lacks the parents of a commit. */
function isBoundary(repository: Repository, commit: string): boolean {
  const written = /^parent /m.test(repository.git('cat-file', '-p', commit).split('\n\n', 1)[0] ?? '');
  return written && repository.parentsOf(commit).length === 0;
}

/** A text in a `package.json`. Null if the file, or the member, is missing or invalid, as in an older commit. */
export function memberOf(text: string | null, member: 'name' | 'version'): string | null {
  const found = jsonObjectIn(text ?? '')[member];
  return typeof found === 'string' ? found : null;
}
