import { existsSync, realpathSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { changeBy, type Change } from '../change.ts';
import type { ConfiguredContracts } from '../config/config.ts';
import { configFile } from '../config/read-config.ts';
import { InputError } from '../input-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { below, filesOfFolder, isForeign, matchingPaths, type PackageFiles } from '../source/package-files.ts';
import { packageOf } from '../source/package-of.ts';
import { kindOfPlace } from '../source/place.ts';
import { readFiles } from '../source/read-files.ts';
import { readServedSchema, readUrl } from '../source/url.ts';
import type { SourceText } from '../text-file.ts';
import { compareFile } from './compare-file.ts';
import { compareSnapshots, wholeFileChange, type ContractChange, type PackageChanges } from './compare-snapshots.ts';
import type { ComparedPackage, ComparisonContext } from './compared-package.ts';
import { defaultSettings, packageReader, type WorkspacePackage } from './contract-package.ts';
import { filesInGit } from './files-in-git.ts';
import { npmrcAt } from './last-release.ts';
import { folderOf, isListed, nearest, normalized, ownerOf, packagesNamed } from './listed-contracts.ts';
import { pairPackages, type PackagePair } from './pair-packages.ts';
import { workspaceRules } from './rules.ts';
import { listedSnapshotOf } from './snapshot.ts';
import { listedVersionOf } from './version-status.ts';
import type { MergedState, WorkspaceState } from './workspace-state.ts';

/** An entry of the configuration, in the working tree or before it. */
interface Entry {
  readonly contracts: ConfiguredContracts;
  /** `/contracts/0` in the working tree. Null if the working tree does not list the entry. */
  readonly pointer: string | null;
  /** The package whose bump counts. */
  readonly name: string;
  /** The folder of the files relative to the root, in the working tree and in the merged state. */
  readonly folder: string;
  readonly folderBefore: string;
  /** The package in the merged state and in the working tree. Null if no `package.json` there has its name. */
  readonly before: WorkspacePackage | null;
  readonly now: WorkspacePackage | null;
}

/** The files that an entry is compared with. */
interface ComparedFiles {
  readonly name: string;
  readonly version: string | null;
  /** The folder of the files in the release, relative to the root. Null if the release is no commit. */
  readonly folder: string | null;
  readonly isOutsideGit: boolean;
  /** By path relative to the folder of the entry. */
  readonly files: PackageFiles;
}

/**
 * Compares the contracts that a configuration lists: that of the working tree, that of the merged state, and those of the
 * last releases.
 */
export async function compareConfigured(context: ComparisonContext): Promise<ComparedPackage[]> {
  const compared: ComparedPackage[] = [];
  // One after the other, so that the first invalid entry is reported.
  for (const entry of await entriesOf(context)) {
    const found = await compareEntry(context, entry);
    if (found !== null) compared.push(found);
  }
  return compared;
}

async function entriesOf(context: ComparisonContext): Promise<Entry[]> {
  const { now, merged, root } = context;
  const listed = (now.config.contracts ?? []).flatMap((contracts, index): Entry[] => {
    const [folder, pointer] = [folderOf(contracts), `/contracts/${index}`];
    const name = ownerOf(contracts, now.packageIn) ?? packageOf(join(root, folder))?.name;
    if (name === undefined)
      return fail(root, `${pointer} needs the member "package", because no package.json has a name`);
    return pairsOf(context, name, folder).map((pair) => ({
      ...pair,
      contracts,
      pointer,
      name,
      folder,
      folderBefore: movedFolder(folder, pair.now?.path, pair.before?.path),
    }));
  });
  if (merged === null) return listed;
  const released = await Promise.all(
    [...listed, ...formerPairs(now, merged)].map((pair) => listedInRelease(context, pair)),
  );
  const older = [
    ...(merged.config.contracts ?? []).map((contracts) => {
      const folder = folderOf(contracts);
      return { contracts, folder, name: ownerOf(contracts, merged.packageIn) ?? packageOf(join(root, folder))?.name };
    }),
    ...released.flat(),
  ].flatMap(({ contracts, folder: folderBefore, name }): Entry[] => {
    if (name === undefined) return [];
    return pairsOf(context, name, folderBefore).map((pair) => ({
      ...pair,
      contracts,
      pointer: null,
      name,
      folder: movedFolder(folderBefore, pair.before?.path, pair.now?.path),
      folderBefore,
    }));
  });
  // Not only by the contracts: a new package.json in their folder would take them away from the package that released them.
  const isSame = (a: Entry, b: Entry): boolean =>
    a.name === b.name &&
    a.before?.path === b.before?.path &&
    a.now?.path === b.now?.path &&
    isDeepStrictEqual(a.contracts, b.contracts);
  return [...listed, ...older].filter((entry, index, all) => all.findIndex((each) => isSame(each, entry)) === index);
}

/** The packages whose contracts a configuration may have listed when they were last released, although it no longer does. */
function formerPairs(now: WorkspaceState, merged: MergedState): PackagePair[] {
  return [...merged.formerOwners].flatMap((name) => {
    const [before = [], after = []] = [merged, now].map(({ packages }) =>
      packages.filter((each) => each.name === name),
    );
    return pairPackages(before, after, now.members);
  });
}

/** The contracts that the configuration listed for a package when it was last released, and their folder where it is merged. */
async function listedInRelease({ lastRelease }: ComparisonContext, { before, now }: PackagePair) {
  if (before === null) return [];
  const { baselines } = await lastRelease(before, now);
  return baselines.flatMap(({ listed, path }) =>
    listed.map((contracts) => {
      const folder = movedFolder(folderOf(contracts), path ?? before.path, before.path);
      return { contracts, folder, name: before.name };
    }),
  );
}

/** The packages of a name that can own the contracts in a folder. */
function pairsOf({ now, merged }: ComparisonContext, name: string, folder: string): PackagePair[] {
  const before = merged === null ? [] : packagesNamed(name, merged, folder);
  const after = packagesNamed(name, now, folder);
  const found = pairPackages(before, after, now.members).filter((pair) => before.length === 0 || pair.before !== null);
  return found.length === 0 ? [{ before: null, now: null }] : before.length === 0 ? found.slice(0, 1) : found;
}

/** Null if neither side has a file of an entry that the working tree does not list. */
async function compareEntry(context: ComparisonContext, entry: Entry): Promise<ComparedPackage | null> {
  const { root } = context;
  const { contracts, pointer, name, folder, before, now } = entry;
  const leftOut = [...below(context.leftOut, folder)].filter(([path]) => !path.split('/').some(isForeign));
  const files: PackageFiles = new Map([...leftOut, ...(filesOfFolder(join(root, folder)) ?? [])]);
  const baselines = await filesBefore(context, entry, files);
  const listed = [files, ...baselines.map((each) => each.files)].flatMap((all) => matchingPaths(all, contracts.files));
  if (listed.length === 0) {
    if (pointer === null) return null;
    if (files.size === 0) fail(root, `${pointer}/folder does not exist: ${contracts.folder}`);
    const place = contracts.baseline ?? 'the last release';
    fail(root, `${pointer}/files match no file, neither in ${join(root, folder)} nor in ${place}`);
  }
  // A release without the contract makes no promise about it.
  const released = baselines.filter(
    (each) => contracts.baseline !== undefined || matchingPaths(each.files, contracts.files).length > 0,
  );
  return {
    name,
    path: now?.path ?? before?.path ?? folder,
    version: now?.version ?? null,
    versionBefore: before?.version ?? null,
    servedBy: contracts.servedBy ?? [],
    releases: released.map((baseline) => ({
      name: baseline.name,
      version: baseline.version,
      ...compareWith(context, entry, baseline, files),
    })),
    inGit: [
      ...filesInGit(
        matchingPaths(files, contracts.files).flatMap((file) => {
          const read = files.get(file);
          return read === undefined ? [] : [{ kind: contracts.kind, path: file, read }];
        }),
        released.flatMap((each) => (each.isOutsideGit ? [each.files] : [])),
      ).map((file) => posix.join(folder, file)),
      ...(now === null ? [] : [posix.join(now.path, 'package.json')]),
    ],
    notices:
      contracts.baseline === undefined && before !== null ? (await context.lastRelease(before, now)).notices : [],
  };
}

/** The rules for versions apply to the files that `versions.json` in the folder of an entry lists. */
function compareWith(
  context: ComparisonContext,
  { contracts, name, folder, folderBefore }: Entry,
  { files: before, folder: folderReleased }: ComparedFiles,
  files: PackageFiles,
): PackageChanges {
  const paths = new Set([before, files].flatMap((all) => matchingPaths(all, contracts.files)));
  const versions = versionsOf(contracts, paths, [before, files]);
  const settings = { ...defaultSettings, ...contracts };
  const overrideIn = (change: Change, file: string): Change =>
    context.override(
      change,
      posix.join(folder, file),
      [folderBefore, folderReleased ?? folderBefore].map((each) => posix.join(each, file)),
    );
  const versioned = compareSnapshots(
    listedSnapshotOf(before, contracts.kind, versions),
    listedSnapshotOf(files, contracts.kind, versions),
    join(context.root, folder),
    settings,
    context.today,
    overrideIn,
  );
  const notices = [...versioned.notices];

  function compare(file: string): ContractChange[] {
    const [old, next] = [before.get(file), files.get(file)];
    if (old === undefined) {
      const added = changeBy(workspaceRules.contractAdded, file, `${file} was added.`);
      return [wholeFileChange(added, file, null, join(context.root, folder, file))];
    }
    if (next === undefined) return [removed(file, old, `${file} was removed.`)];
    const report = compareFile(contracts.kind, old(), next(), settings);
    notices.push(...report.notices);
    return report.changes.map((found) => {
      const change = overrideIn(found, file);
      const grows = contracts.frozen === true || contracts.kind === 'append-only';
      return { ...change, file, breaksReleased: grows && change.verdict === 'major' };
    });
  }

  function removed(file: string, old: () => SourceText, message: string): ContractChange {
    const change = changeBy(workspaceRules.contractRemoved, file, message);
    const found = wholeFileChange(change, file, old().file, join(context.root, folder, file));
    return { ...found, breaksReleased: contracts.frozen ?? false };
  }

  /** The files that the configuration of the working tree no longer lists. */
  const unlisted = [...paths].toSorted().flatMap((file): ContractChange[] => {
    const old = before.get(file);
    if (old === undefined || !files.has(file)) return [];
    if (isListed(context.now, posix.join(folder, file), name, contracts.kind)) return [];
    return [
      removed(file, old, `${file} is no longer compared, because the configuration does not list it for ${name}.`),
    ];
  });
  const others = [...paths].filter((file) => !versions.has(file)).toSorted();
  return { changes: [...versioned.changes, ...others.flatMap(compare), ...unlisted], notices };
}

/** The released files of an entry, from its `baseline` or from the last release of its package. */
async function filesBefore(context: ComparisonContext, entry: Entry, now: PackageFiles): Promise<ComparedFiles[]> {
  const { root, merged, lastRelease } = context;
  const { contracts, pointer, folderBefore, before } = entry;
  if (contracts.baseline !== undefined) {
    const found = await filesAtPlace(context, entry, contracts.baseline, now);
    const kind = kindOfPlace(contracts.baseline);
    // From the root, because the folder may no longer exist, and the package can be around it.
    const at = kind === 'git' ? folderBefore : '';
    // A server shows no version.
    const version =
      kind === 'url'
        ? null
        : (nearest(
            packageReader(found, () => null),
            at,
          )?.version ?? null);
    return [{ name: contracts.baseline, version, folder: null, isOutsideGit: kind !== 'git', files: below(found, at) }];
  }
  if (merged === null)
    return fail(root, `${pointer} needs the member "baseline", because the folder is not in a git repository`);
  if (before === null) {
    const files = below(merged.files, folderBefore);
    // Without a package, there is no version to look for: what is merged counts as released.
    const name = `commit ${merged.tree.commit.slice(0, 12)}`;
    return [{ name, version: null, folder: folderBefore, isOutsideGit: false, files }];
  }
  const { baselines } = await lastRelease(before, entry.now);
  const rest = posix.relative(before.path, folderBefore);
  return baselines.map(({ name, version, files, path, tree: release }) => {
    if (release === null && rest.startsWith('..'))
      return fail(
        root,
        `${pointer ?? ''} is outside of ${before.path}, so ${name} does not contain it. Name a baseline.`,
      );
    const isOutsideGit = path === null;
    if (release === null) return { name, version, folder: null, isOutsideGit, files: below(files, rest) };
    const folder = rest.startsWith('..') ? folderBefore : normalized(posix.join(path ?? '', rest));
    return { name, version, folder, isOutsideGit, files: below(release.files, folder) };
  });
}

/** The files at the place that an entry names as its baseline: of git those in the root, elsewhere those in the folder of the entry. */
async function filesAtPlace(
  { root, merged }: ComparisonContext,
  { contracts, pointer, folder }: Entry,
  place: string,
  now: PackageFiles,
): Promise<PackageFiles> {
  const kind = kindOfPlace(place);
  switch (kind) {
    case 'url': {
      const paths = matchingPaths(now, contracts.files);
      if (paths.length !== 1)
        fail(
          root,
          `${pointer ?? ''}/baseline is one file, but /files match ${paths.length} files in ${join(root, folder)}`,
        );
      const source = await (contracts.kind === 'graphql' ? readServedSchema : readUrl)(place);
      // Nothing but the contract is known. The states of versions are those of now.
      return new Map([...now, ...paths.map((only) => [only, () => source] as const)]);
    }
    case 'local':
    case 'tarball': {
      const path = resolve(root, place);
      const inRoot = relative(root, path).replaceAll(sep, '/');
      // Changes cannot replace what they are compared with. What git does not track is not part of them.
      const before = kind === 'local' ? merged?.tree.filesIn(inRoot) : undefined;
      if (before !== undefined && before.size > 0) return before;
      const places = [inRoot, relative(realOf(root), realOf(path)).replaceAll(sep, '/')];
      if (merged !== null && places.some((each) => merged.repository.contains(each) && merged.repository.tracks(each)))
        fail(
          root,
          `${pointer ?? ''}/baseline is ${place}, which changes can replace, because git tracks it. ${kind === 'local' ? 'Merge it in an earlier pull request' : 'Name a folder'}, or omit the baseline.`,
        );
      return readFiles(path, root);
    }
    case 'git':
    case 'input':
    case 'npm':
      return readFiles(place, root, merged === null ? undefined : npmrcAt(merged.tree));
  }
}

/** The path without symbolic links. The path itself if it does not exist. */
function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** The keys of the versions that either side lists, by the path of the file. API reports and append-only files have none. */
function versionsOf(
  { kind }: ConfiguredContracts,
  paths: ReadonlySet<string>,
  sides: readonly PackageFiles[],
): Map<string, string> {
  const lists = sides.flatMap((files) => {
    const read = files.get('versions.json');
    return read === undefined ? [] : [parseJson(read()).value];
  });
  if (kind === 'api' || kind === 'append-only') return new Map();
  return new Map(
    [...paths].flatMap((path) => {
      const [version] = lists.flatMap((list) => listedVersionOf(path, list) ?? []);
      return version === undefined ? [] : [[path, version] as const];
    }),
  );
}

/** The folder in which a package has the files that it has in another folder elsewhere. */
function movedFolder(folder: string, from: string | undefined, to: string | undefined): string {
  if (from === undefined || to === undefined) return folder;
  const rest = posix.relative(from, folder);
  return rest.startsWith('..') ? folder : normalized(posix.join(to, rest));
}

function fail(root: string, problem: string): never {
  throw new InputError(join(root, configFile), null, problem);
}
