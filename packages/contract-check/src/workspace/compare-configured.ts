import { existsSync, realpathSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { configFile, type ConfiguredContracts } from '../config/config.ts';
import { failAt } from '../input-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { below, filesOfFolder, isForeign, matchingPaths, type PackageFiles } from '../source/package-files.ts';
import { packageOf } from '../source/project.ts';
import { kindOfPlace, readFiles } from '../source/read-source.ts';
import { readServedSchema, readUrl } from '../source/url.ts';
import { filesInGit } from './check-storage.ts';
import { compareRelease, type ComparedPackage, type ComparisonContext } from './compared-package.ts';
import { defaultSettings, packageReader, type WorkspacePackage } from './contract-package.ts';
import { npmrcAt } from './last-release.ts';
import {
  folderOf,
  nearest,
  normalized,
  ownerOf,
  packagesNamed,
  pairPackages,
  type PackagePair,
} from './listed-contracts.ts';
import { configuredIn, snapshot } from './snapshot.ts';
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

/** Compares what the configuration lists in the working tree, in the merged state and in the latest releases. */
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
  const nameOf = (contracts: ConfiguredContracts, state: WorkspaceState): string | undefined =>
    ownerOf(contracts, state.packageIn) ?? packageOf(join(root, folderOf(contracts)))?.name;
  /** @param pointer null for contracts in a folder before the working tree */
  const entriesFor = (contracts: ConfiguredContracts, name: string, folder: string, pointer: string | null): Entry[] =>
    pairsOf(context, name, folder).map((pair) => {
      const [from, to] = pointer === null ? [pair.before, pair.now] : [pair.now, pair.before];
      const moved = movedFolder(folder, from?.path, to?.path);
      const entry = { ...pair, contracts, pointer, name };
      return pointer === null
        ? { ...entry, folder: moved, folderBefore: folder }
        : { ...entry, folder, folderBefore: moved };
    });
  const listed = (now.config.contracts ?? []).flatMap((contracts, index) => {
    const [name, pointer] = [nameOf(contracts, now), `/contracts/${index}`];
    if (name === undefined)
      return fail(root, `${pointer} needs the member "package", because no package.json has a name`);
    return entriesFor(contracts, name, folderOf(contracts), pointer);
  });
  if (merged === null) return listed;
  const released = await Promise.all(
    [...listed, ...formerPairs(now, merged)].map((pair) => listedInRelease(context, pair)),
  );
  const older = [
    ...(merged.config.contracts ?? []).map((contracts) => {
      return { contracts, folder: folderOf(contracts), name: nameOf(contracts, merged) };
    }),
    ...released.flat(),
  ].flatMap(({ contracts, folder, name }) => (name === undefined ? [] : entriesFor(contracts, name, folder, null)));
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
  const { contracts, pointer, name, folder, folderBefore, before, now } = entry;
  const leftOut = [...below(context.leftOut, folder)].filter(([path]) => !path.split('/').some(isForeign));
  const files: PackageFiles = new Map([...leftOut, ...(filesOfFolder(join(root, folder)) ?? [])]);
  const baselines = await filesBefore(context, entry, files);
  const listed = [files, ...baselines.map((each) => each.files)].flatMap((all) => matchingPaths(all, contracts.files));
  if (listed.length === 0) {
    if (pointer === null) return null;
    if (files.size === 0) fail(root, `${pointer}/folder does not exist: ${contracts.folder}`);
    const place = contracts.baseline ?? 'the latest release';
    fail(root, `${pointer}/files match no file, neither in ${join(root, folder)} nor in ${place}`);
  }
  // A release without the contract makes no promise about it.
  const released = baselines.filter(
    (each) => contracts.baseline !== undefined || matchingPaths(each.files, contracts.files).length > 0,
  );
  const outside = released.flatMap((each) => (each.isOutsideGit ? [each.files] : []));
  return {
    name,
    path: now?.path ?? before?.path ?? folder,
    version: now?.version ?? null,
    versionBefore: before?.version ?? null,
    servedBy: contracts.servedBy ?? [],
    releases: released.map((baseline) => ({
      name: baseline.name,
      version: baseline.version,
      ...compareRelease(context, {
        name,
        ...snapshotsOf(contracts, baseline.files, files, schemasBeside(context, entry)),
        folder,
        foldersBefore: [folderBefore, baseline.folder ?? folderBefore],
        settings: [{ ...defaultSettings, ...contracts, frozen: contracts.frozen ?? false }],
        unlistedFor: ` for ${name}`,
      }),
    })),
    inGit: [
      ...filesInGit(configuredIn(files, contracts), outside).map((file) => posix.join(folder, file)),
      ...(now === null ? [] : [posix.join(now.path, 'package.json')]),
    ],
    notices:
      contracts.baseline === undefined && before !== null ? (await context.lastRelease(before, now)).notices : [],
  };
}

/** The SDL that is listed for the folder of manifests. As it is merged: changes cannot choose one that lacks a coordinate. */
function schemasBeside({ now, merged }: ComparisonContext, { contracts }: Entry): readonly ConfiguredContracts[] {
  const { config } = merged ?? now;
  if (contracts.kind !== 'manifest') return [];
  return (config.contracts ?? []).filter(
    (each) => each.kind === 'graphql' && folderOf(each) === folderOf(contracts) && each.package === contracts.package,
  );
}

/** The rules for versions apply to the files that `versions.json` in the folder lists on either side, but to no API reports. */
function snapshotsOf(
  contracts: ConfiguredContracts,
  before: PackageFiles,
  now: PackageFiles,
  schemas: readonly ConfiguredContracts[],
) {
  const lists = [before, now].flatMap((files) => {
    const read = files.get('versions.json');
    return read === undefined ? [] : [parseJson(read()).value];
  });
  const isVersioned = contracts.kind !== 'api' && contracts.kind !== 'append-only';
  const versionOf = (path: string): string | null =>
    lists.flatMap((list) => (isVersioned ? (listedVersionOf(path, list) ?? []) : []))[0] ?? null;
  const [from, to] = [configuredIn(before, contracts, versionOf), configuredIn(now, contracts, versionOf)];
  // A `versions.json` that lists none of the files belongs to something else.
  const hasVersions = [...from, ...to].some(({ version }) => version !== null);
  const states = (files: PackageFiles): PackageFiles => (hasVersions ? files : new Map());
  const sdl = schemas.flatMap((each) => configuredIn(before, each, versionOf));
  return { from: snapshot(from, states(before), sdl), to: snapshot(to, states(now)) };
}

/** The released files of an entry, from its `baseline` or from the latest release of its package. */
async function filesBefore(context: ComparisonContext, entry: Entry, now: PackageFiles) {
  const { root, merged, lastRelease } = context;
  const { contracts, pointer, folderBefore, before } = entry;
  if (contracts.baseline !== undefined) {
    const found = await filesAtPlace(context, entry, contracts.baseline, now);
    const kind = kindOfPlace(contracts.baseline);
    // From the root, because the folder may no longer exist, and the package can be around it.
    const at = kind === 'git' ? folderBefore : '';
    // A server shows no version.
    const packageIn = packageReader(found, () => null);
    const version = kind === 'url' ? null : (nearest(packageIn, at)?.version ?? null);
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

/** The folder in which a package has the files that it has in another folder elsewhere. */
function movedFolder(folder: string, from: string | undefined, to: string | undefined): string {
  if (from === undefined || to === undefined) return folder;
  const rest = posix.relative(from, folder);
  return rest.startsWith('..') ? folder : normalized(posix.join(to, rest));
}

function fail(root: string, problem: string): never {
  failAt(join(root, configFile), problem);
}
