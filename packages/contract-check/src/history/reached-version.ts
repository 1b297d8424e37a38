import { posix } from 'node:path';
import { InputError } from '../input-error.ts';
import { compareVersions, isReleaseVersion } from '../version-bump.ts';
import { unshallow } from './merge-base.ts';
import type { Repository } from './repository.ts';

/** The `package.json` of a package at a commit. */
export interface PackageAt {
  readonly commit: string;
  /** The folder of the package, relative to the folder of the repository object. Empty for that folder. */
  readonly path: string;
}

/** The version that a package has last reached in the history of a commit. */
export interface ReachedVersion {
  readonly version: string;
  /**
   * The oldest commits with the version, from which all newer ones up to the start of the search have it. Several if
   * branches reached the version independently.
   */
  readonly at: readonly PackageAt[];
  /** Whether the package has had the version since its first commit, so that no commit raises it. */
  readonly isFirst: boolean;
}

interface Point extends PackageAt {
  /** Null if the commit has no such package. */
  readonly version: string | null;
}

/**
 * Finds where a package reached its version. Follows all parents: in the first parents of a branch that merged the main
 * branch and became it, the merge seems to raise the version, with the unreleased changes of the branch. Skips pre-releases
 * and 0.0.0. Follows a package whose folder was renamed.
 *
 * @returns null if the package has had no version that names a release
 * @throws {InputError} when the clone is shallow and lacks the commit.
 */
export function findReachedVersion(repository: Repository, name: string, start: PackageAt): ReachedVersion | null {
  const history = historyOf(repository, name);
  const released = new Map<string, Point[]>();
  visit(history.pointAt(start), (point) => {
    if (point.version === null || !isReleaseVersion(point.version)) return history.parentsOf(point);
    released.set(point.version, [...(released.get(point.version) ?? []), point]);
    return [];
  });
  const [version] = [...released.keys()].toSorted(compareVersions).toReversed();
  if (version === undefined) return null;
  const raised: Point[] = [];
  const first: Point[] = [];
  for (const newest of released.get(version) ?? []) {
    visit(newest, (point) => {
      const parents = history.parentsOf(point);
      const sameVersion = parents.filter((parent) => parent.version === version);
      if (sameVersion.length === 0) (parents.length === 0 ? first : raised).push(point);
      return sameVersion;
    });
  }
  const at = raised.length > 0 ? raised : first;
  return { version, at: [...new Map(at.map((point) => [keyOf(point), point])).values()], isFirst: raised.length === 0 };
}

/** Visits a point, then those that `next` returns, each once. */
function visit(start: Point, next: (point: Point) => readonly Point[]): void {
  const seen = new Set<string>();
  const pending = [start];
  for (const point of pending) {
    const key = keyOf(point);
    if (seen.has(key)) continue;
    seen.add(key);
    pending.push(...next(point));
  }
}

function keyOf({ commit, path }: PackageAt): string {
  return `${commit}:${path}`;
}

interface History {
  pointAt(place: PackageAt): Point;
  /** The nearest older commits that changed the `package.json`. Empty at the first commit of the package. */
  parentsOf(point: Point): readonly Point[];
}

function historyOf(repository: Repository, name: string): History {
  const points = new Map<string, Point>();
  const parents = new Map<string, readonly string[]>();

  /** Reads the history of one path from a commit on. Returns the newest commit in it. */
  function read({ commit, path }: PackageAt): string {
    const file = posix.join(path, 'package.json');
    // Simplified merges keep each commit at which a version came in, on every branch.
    const flags = ['--topo-order', '--full-history', '--simplify-merges', '--parents'];
    const lines = repository
      .git('rev-list', ...flags, commit, '--', file)
      .split('\n')
      .filter(Boolean);
    const commits = lines.map((line) => line.split(' '));
    const texts = repository.textsAt(commits.map(([id = '']) => ({ commit: id, path: file })));
    for (const [index, [id = '', ...rest]] of commits.entries()) {
      const point = { commit: id, path, version: versionIn(texts[index] ?? null) };
      points.set(keyOf(point), point);
      parents.set(keyOf(point), rest);
    }
    return commits[0]?.[0] ?? commit;
  }

  function pointAt(place: PackageAt): Point {
    const newest = { path: place.path, commit: read(place) };
    return points.get(keyOf(newest)) ?? { ...newest, version: null };
  }

  /** The package in another folder, in the parents of the commit that added it to this one. */
  function beforeRename({ commit }: PackageAt): Point[] {
    const [, ...ids] = repository.git('rev-list', '--parents', '-1', commit).trim().split(' ');
    return ids.flatMap((id) => {
      const tree = repository.filesAt(id);
      const manifests = [...tree.files.keys()].filter((path) => posix.basename(path) === 'package.json');
      tree.load(manifests);
      return manifests
        .filter((path) => memberOf(tree.files.get(path)?.().text ?? null, 'name') === name)
        .map((path) => pointAt({ commit: id, path: path === 'package.json' ? '' : posix.dirname(path) }));
    });
  }

  return {
    pointAt,
    parentsOf(point) {
      const own = (parents.get(keyOf(point)) ?? []).flatMap(
        (commit) => points.get(keyOf({ commit, path: point.path })) ?? [],
      );
      const before = own.filter(({ version }) => version !== null);
      if (before.length > 0) return before;
      if (own.length === 0 && repository.isShallow && isBoundary(repository, point.commit))
        throw new InputError(
          posix.join(point.path, 'package.json'),
          null,
          `the clone is shallow and does not contain the last release of ${name}. ${unshallow}`,
        );
      return beforeRename(point);
    },
  };
}

/** Whether the clone lacks the parents of a commit. */
function isBoundary(repository: Repository, commit: string): boolean {
  const written = /^parent /m.test(repository.git('cat-file', '-p', commit).split('\n\n', 1)[0] ?? '');
  return written && repository.git('rev-list', '--parents', '-1', commit).trim() === commit;
}

function versionIn(text: string | null): string | null {
  return memberOf(text, 'version');
}

/** A text in a `package.json`. Null if the file, or the member, is missing or invalid. */
function memberOf(text: string | null, member: 'name' | 'version'): string | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, member) : null;
    return typeof found === 'string' ? found : null;
  } catch {
    // An older commit may contain an invalid file.
    return null;
  }
}
