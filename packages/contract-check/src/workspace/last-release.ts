import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fileNotice, type Notice } from '../change.ts';
import { formerlyListed } from '../config/config.ts';
import { findReachedVersions, packagesByFolder, type PackageAt } from '../history/reached-version.ts';
import type { CommitFiles } from '../history/repository.ts';
import { failAt } from '../input-error.ts';
import { remembered } from '../remembered.ts';
import { publishedPackages, type PublishedPackage } from '../source/npm-package.ts';
import type { PackageFiles } from '../source/package-files.ts';
import { compareVersions, isPlaceholder, isReleaseVersion, precedingReleases } from '../version-bump.ts';
import { baselineOf, type Baseline } from './baseline.ts';
import { findPackages, packageOfFiles, packageReader, type WorkspacePackage } from './contract-package.ts';
import { ownerOf } from './listed-contracts.ts';
import { releasedFolderOf } from './snapshot.ts';
import { loadState, type MergedState } from './workspace-state.ts';

export interface LastRelease {
  /** Empty if the package is not released. Several if the version is lowered, or the history does not tell which one it is. */
  readonly baselines: readonly Baseline[];
  readonly notices: readonly Notice[];
}

/** Of a package where the changes will be merged, and in the working tree: null if it does not exist there. */
export type LastReleaseOf = (of: WorkspacePackage, now: WorkspacePackage | null) => Promise<LastRelease>;

/**
 * Returns a function that finds what was last released of a package: on the registry, at the tag of its version, or at the
 * commit that raised its version, once for each package. A `released/` folder counts as well, as the base has it.
 *
 * @param contractsIn returns the paths in a package of its contracts, given its name and its files
 */
export function lastReleases(
  { repository, tree: base, config, configPath }: MergedState,
  contractsIn: (name: string, files: PackageFiles) => readonly string[],
): LastReleaseOf {
  const packagesAt = packagesByFolder(repository);
  const tags = repository.tags();
  let merged: ReadonlySet<string> | undefined;

  function filesAt(commit: string): CommitFiles {
    const tree = repository.filesAt(commit);
    loadState(tree);
    return tree;
  }

  /** The package at a commit, in the same folder or in another one. Null if the commit does not have it. */
  function packageAt({ commit, path }: PackageAt, name: string): WorkspacePackage | null {
    const tree = filesAt(commit);
    const packageIn = packageReader(tree.files, (folder, error) => {
      if (folder === path) throw error;
      return null;
    });
    const inFolder = packageIn(path);
    const found =
      inFolder?.name === name ? inFolder : findPackages(tree.files, packageIn).find((each) => each.name === name);
    if (found === undefined) return null;
    tree.load(contractsIn(name, found.files).map((file) => posix.join(found.path, file)));
    return found;
  }

  /** Identifies the contracts of a package at a commit by their paths and contents. */
  function contentOf(name: string, { files, path: folder, tree }: Baseline): string {
    const paths = [...contractsIn(name, files), 'versions.json'].toSorted();
    return paths.map((path) => `${path} ${tree?.idOf(posix.join(folder ?? '', path)) ?? ''}`).join('\n');
  }

  function atCommit(found: WorkspacePackage, commit: string, name: string): Baseline {
    const tree = filesAt(commit);
    const packageIn = packageReader(tree.files, () => null);
    const listed = formerlyListed(configPath === null ? null : tree.fileAt(configPath));
    const own = listed.filter((each) => ownerOf(each, packageIn) === found.name);
    return { ...baselineOf(found, name), tree, listed: own };
  }

  function atTag(tag: string, of: WorkspacePackage): Baseline | null {
    const commit = tags.get(tag);
    if (commit === undefined) return null;
    const found = packageAt({ commit, path: of.path }, of.name);
    return found === null ? null : atCommit(found, commit, `tag ${tag}`);
  }

  /** The tag with the largest version of those that count: merged ones, and on any branch those of the given versions. */
  function atNewestTag(of: WorkspacePackage, versions: readonly string[], counts: (version: string) => boolean) {
    const candidates = [...tags.keys()]
      .flatMap((tag) => ({ tag, version: versionOfTag(tag, of) ?? '' }))
      .filter(({ version }) => isReleaseVersion(version) && counts(version))
      .toSorted((a, b) => compareVersions(b.version, a.version));
    // Most packages have none, and git need not be asked.
    if (candidates.length > 0) merged ??= new Set(repository.git('tag', '--merged', base.commit).split('\n'));
    const newest = candidates.find(({ tag, version }) => merged?.has(tag) === true || versions.includes(version));
    const released = newest === undefined ? null : atTag(newest.tag, of);
    return newest === undefined || released === null ? null : { ...released, version: newest.version };
  }

  function reachedBy(of: WorkspacePackage) {
    return findReachedVersions(repository, packagesAt, of.name, { commit: base.commit, path: of.path });
  }

  function inHistory(of: WorkspacePackage, versionNow: string | null): LastRelease {
    const notice = (message: string): Notice => fileNotice(posix.join(of.path, 'package.json'), message);
    const reached = reachedBy(of);
    const versions = precedingReleases(reached.keys(), of.version, versionNow);
    const isFirst = versions.every((version) => reached.get(version)?.isFirst === true);
    // A release that raised the version only in what it published is known by its tag.
    const isUncommitted = (version: string): boolean =>
      !reached.has(version) && (of.version === null || compareVersions(version, of.version) > 0);
    const tagged = atNewestTag(of, versions, (version) => isFirst || isUncommitted(version));
    if (tagged !== null) {
      const isStated = tagged.version === of.version || versionNow !== of.version;
      // A version that stays the same through releases declares no bump.
      const version = isStated ? largerVersion(tagged.version, of.version) : null;
      return { baselines: [{ ...tagged, version }], notices: [] };
    }
    const remedy = `If you publish it without committing its version, push a tag ${of.name}@VERSION for each release, or set "registry" in contract-check.json.`;
    if (versions.length === 0 && isPlaceholder(of.version)) {
      const found = atCommit(of, base.commit, `commit ${base.commit.slice(0, 12)}`);
      const message = `No commit or tag of ${of.name} has a version that names a release, so what is merged counts as released. ${remedy}`;
      return { baselines: [{ ...found, version: null }], notices: [notice(message)] };
    }
    if (versions.length === 0) {
      const message = `No commit of ${of.name} has a version that names a release, so it was not compared, and every change is allowed. ${remedy}`;
      return { baselines: [], notices: [notice(message)] };
    }
    const baselines = versions.flatMap((version) => atVersion(of, version, reached.get(version)?.at ?? []));
    if (!isFirst) return { baselines, notices: [] };
    const message = `${of.name} has had version ${versions.join(', ')} since its first commit, so that commit counts as its latest release. Until the first release, use version 0.0.0. ${remedy}`;
    return { baselines, notices: [notice(message)] };
  }

  /** What has a version: the commit at its tag, or those that raised it. */
  function atVersion(of: WorkspacePackage, version: string, reachedAt: readonly PackageAt[]): Baseline[] {
    const found = reachedAt.flatMap((at) => {
      const each = packageAt(at, of.name);
      if (each === null) return [];
      const released = atCommit(each, at.commit, `commit ${at.commit.slice(0, 12)} (${version})`);
      return [[contentOf(of.name, released), released] as const];
    });
    const byContent = new Map(found);
    const tagged = atTagOfVersion(version, of);
    if (tagged === null) return [...byContent.values()];
    checkTag(tagged, version, of, byContent);
    return [tagged];
  }

  function atTagOfVersion(version: string, of: WorkspacePackage): Baseline | null {
    const names = [`${of.name}@${version}`, ...(of.path === '' ? [`v${version}`] : [])];
    return names.map((name) => atTag(name, of)).find((found) => found !== null) ?? null;
  }

  /** @throws {InputError} when the tag has other contracts than each commit that raised the version. */
  function checkTag(tagged: Baseline, version: string, of: WorkspacePackage, raised: ReadonlyMap<string, Baseline>) {
    if (tagged.version === version && raised.has(contentOf(of.name, tagged))) return;
    const where = [...raised.values()].map(({ name }) => name).join(', ');
    const problem =
      tagged.version === version
        ? `its contracts differ from those of ${where}, which raised the version`
        : `its package.json has version ${tagged.version ?? 'none'}`;
    failAt(
      tagged.name,
      `${problem}. Both claim to be the latest release of ${of.name}. Move the tag to the commit that was released, or delete it.`,
    );
  }

  /** A version on the registry. What its tarball leaves out is read where git has the version. */
  function completed(of: WorkspacePackage, { version, files }: PublishedPackage): Baseline[] {
    const settings = packageOfFiles('', files)?.settings ?? of.settings;
    const name = `npm:${of.name}@${version}`;
    const baseline: Baseline = { ...baselineOf(of, name), version, files, settings, path: null };
    const missing = contractsIn(of.name, of.files).filter((path) => !files.has(path));
    if (missing.length === 0) return [baseline];
    const reached = reachedBy(of).get(version);
    const inGit =
      reached === undefined || reached.isFirst
        ? [atTagOfVersion(version, of)].flatMap((tagged) => tagged ?? [])
        : atVersion(of, version, reached.at);
    if (inGit.length === 0)
      failAt(
        name,
        `does not contain ${missing[0] ?? ''}, and no commit or tag shows what this version had. Publish the contracts ("files" in package.json leaves them out), or push the tag ${of.name}@${version} at the commit that was published.`,
      );
    return inGit.map((released) => ({
      ...baseline,
      files: new Map([...files, ...[...released.files].filter(([path]) => missing.includes(path))]),
    }));
  }

  async function find(of: WorkspacePackage, now: WorkspacePackage | null): Promise<LastRelease> {
    const versionNow = now?.version ?? null;
    const folder = releasedFolderOf(of.files);
    const select = (versions: readonly string[]): readonly string[] =>
      precedingReleases(versions, of.version, versionNow);
    const published = config.registry === true ? await publishedPackages(of.name, select, npmrcAt(base)) : [];
    const own: Baseline[] = [];
    if (folder !== null) {
      const settings = { ...of.settings, appendOnly: [...of.settings.appendOnly, ...folder.appendOnly] };
      own.push({ ...baselineOf(of, `released/ at ${base.commit.slice(0, 12)}`), settings, files: folder.files });
    }
    if (published.length > 0)
      return { baselines: [...published.flatMap((each) => completed(of, each)), ...own], notices: [] };
    const found = inHistory(of, versionNow);
    if (own.length === 0 || found.notices.length === 0) return { ...found, baselines: [...found.baselines, ...own] };
    // The folder says more than a version that no commit raises.
    checkReleasedFolder(of, now);
    return { baselines: own, notices: [] };
  }

  return remembered(find, (of, now) => JSON.stringify([of.name, of.path, now?.path ?? null]));
}

/** @throws {InputError} when the changes write what was released, without a release. */
function checkReleasedFolder(of: WorkspacePackage, now: WorkspacePackage | null): void {
  if (now === null || (now.version !== of.version && isReleaseVersion(now.version ?? ''))) return;
  const [before, after] = [of, now].map(
    ({ files }) => new Map([...(releasedFolderOf(files)?.files ?? [])].map(([path, read]) => [path, read().text])),
  );
  if (isDeepStrictEqual(before, after)) return;
  failAt(
    posix.join(now.path, 'released'),
    `differs from what is merged, but only a release changes it, and nothing else shows what was released of ${of.name}. Restore the folder, or raise "version" in the same pull request.`,
  );
}

function largerVersion(version: string, other: string | null): string {
  return other !== null && compareVersions(other, version) > 0 ? other : version;
}

/** The `.npmrc` of a commit: changes cannot choose the registry. */
export function npmrcAt(tree: CommitFiles): string | null {
  return tree.fileAt('.npmrc')?.text ?? null;
}

/** The version that a tag of a package names: `@books/api@1.2.0`, or `v1.2.0` for a package in the root. */
function versionOfTag(tag: string, { name, path }: WorkspacePackage): string | null {
  if (tag.startsWith(`${name}@`)) return tag.slice(name.length + 1);
  return path === '' && tag.startsWith('v') ? tag.slice(1) : null;
}
