import { join, posix, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { changeBy, type Change } from '../change.ts';
import type { ConfiguredContracts } from '../config/config.ts';
import { configFile } from '../config/read-config.ts';
import { InputError } from '../input-error.ts';
import { isJsonObject, ownMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { below, filesOfFolder, matchingPaths, type PackageFiles } from '../source/package-files.ts';
import { packageOf } from '../source/package-of.ts';
import { kindOfPlace } from '../source/place.ts';
import { readFiles } from '../source/read-files.ts';
import { readServedSchema, readUrl } from '../source/url.ts';
import type { SourceText } from '../text-file.ts';
import { compareFile } from './compare-file.ts';
import { compareSnapshots, type ContractChange, type PackageChanges } from './compare-snapshots.ts';
import type { ComparedPackage, ComparisonContext } from './compared-package.ts';
import { defaultSettings, type WorkspacePackage } from './contract-package.ts';
import { folderOf, isListed, normalized, ownerOf, packageNamed } from './listed-contracts.ts';
import { workspaceRules } from './rules.ts';
import { listedSnapshotOf } from './snapshot.ts';
import { uniteChanges } from './unite-changes.ts';
import { listedVersionOf } from './version-status.ts';

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
  /** The package in the merged state. Null if no `package.json` there has its name. */
  readonly before: WorkspacePackage | null;
}

/** The files that an entry is compared with. */
interface ComparedFiles {
  readonly name: string;
  readonly version: string | null;
  /** By path relative to the folder of the entry. */
  readonly files: PackageFiles;
}

/**
 * Compares the contracts that a configuration lists: that of the working tree, that of the merged state, and those of the
 * last releases.
 *
 * @throws {InputError} when a baseline or a contract is missing or invalid.
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
  const listed = (now.config.contracts ?? []).map((contracts, index): Entry => {
    const [folder, pointer] = [folderOf(contracts), `/contracts/${index}`];
    const name = ownerOf(contracts, now.files) ?? packageOf(join(root, folder))?.name;
    if (name === undefined)
      return fail(root, `${pointer} needs the member "package", because no package.json has a name`);
    const before = packageNamed(name, merged, folder);
    const path = packageNamed(name, now, folder)?.path;
    return { contracts, pointer, name, folder, folderBefore: movedFolder(folder, path, before?.path), before };
  });
  if (merged === null) return listed;
  const released = await Promise.all(
    [...new Set(listed.flatMap(({ before }) => before ?? []))].map((before) => context.lastRelease(before)),
  );
  const older = [
    ...(merged.config.contracts ?? []),
    ...released.flatMap(({ baselines }) => baselines.flatMap(({ listed: contracts }) => contracts)),
  ].flatMap((contracts): Entry[] => {
    const folderBefore = folderOf(contracts);
    const name = ownerOf(contracts, merged.files) ?? packageOf(join(root, folderBefore))?.name;
    if (name === undefined) return [];
    const before = packageNamed(name, merged, folderBefore);
    const path = packageNamed(name, now, folderBefore)?.path;
    return [
      { contracts, pointer: null, name, folder: movedFolder(folderBefore, before?.path, path), folderBefore, before },
    ];
  });
  // Not only by the contracts: a new package.json in their folder would take them away from the package that released them.
  const isSame = (a: Entry, b: Entry): boolean => a.name === b.name && isDeepStrictEqual(a.contracts, b.contracts);
  return [...listed, ...older].filter((entry, index, all) => all.findIndex((each) => isSame(each, entry)) === index);
}

/** Null if neither side has a file of an entry that the working tree does not list. */
async function compareEntry(context: ComparisonContext, entry: Entry): Promise<ComparedPackage | null> {
  const { root, now } = context;
  const { contracts, pointer, name, folder } = entry;
  const files: PackageFiles = filesOfFolder(join(root, folder)) ?? new Map();
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
  const [first] = released;
  return {
    name,
    path: folder,
    version: packageNamed(name, now, folder)?.version ?? null,
    servedBy: contracts.servedBy ?? [],
    baseline:
      first === undefined ? null : { name: released.map((each) => each.name).join(', '), version: first.version },
    ...uniteChanges(released.map((baseline) => compareWith(context, entry, baseline.files, files))),
  };
}

/** The rules for versions apply to the files that `versions.json` in the folder of an entry lists. */
function compareWith(
  context: ComparisonContext,
  { contracts, folder }: Entry,
  before: PackageFiles,
  files: PackageFiles,
): PackageChanges {
  const paths = new Set([before, files].flatMap((all) => matchingPaths(all, contracts.files)));
  const versions = versionsOf(contracts, paths, [before, files]);
  const settings = { ...defaultSettings, ...contracts };
  const overrideIn = (change: Change, file: string): Change => context.override(change, posix.join(folder, file));
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
    const place = placeOf(file);
    if (old === undefined)
      return [{ ...changeBy(workspaceRules.contractAdded, file, `${file} was added.`), ...place, oldLocation: null }];
    if (next === undefined) return [removed(file, old, `${file} was removed.`)];
    const report = compareFile(contracts.kind, old(), next(), settings);
    notices.push(...report.notices);
    return report.changes.map((found) => {
      const change = overrideIn(found, file);
      const grows = contracts.frozen === true || contracts.kind === 'append-only';
      return { ...change, file, breaksReleased: grows && change.verdict === 'major' };
    });
  }

  function placeOf(file: string): Pick<ContractChange, 'file' | 'location' | 'breaksReleased'> {
    return { file, location: { file: join(context.root, folder, file), line: null }, breaksReleased: false };
  }

  function removed(file: string, old: () => SourceText, message: string): ContractChange {
    const change = changeBy(workspaceRules.contractRemoved, file, message);
    const oldLocation = { file: old().file, line: null };
    return { ...change, ...placeOf(file), oldLocation, breaksReleased: contracts.frozen ?? false };
  }

  /** The files that the configuration of the working tree no longer lists. */
  const unlisted = [...paths].toSorted().flatMap((file): ContractChange[] => {
    const old = before.get(file);
    if (old === undefined || !files.has(file)) return [];
    if (isListed(context.now, contracts.kind, posix.join(folder, file))) return [];
    return [removed(file, old, `${file} is no longer compared, because the configuration does not list it.`)];
  });
  const others = [...paths].filter((file) => !versions.has(file)).toSorted();
  return { changes: [...versioned.changes, ...others.flatMap(compare), ...unlisted], notices };
}

/** The released files of an entry, from its `baseline` or from the last release of its package. */
async function filesBefore(context: ComparisonContext, entry: Entry, now: PackageFiles): Promise<ComparedFiles[]> {
  const { root, tree, merged, lastRelease } = context;
  const { contracts, pointer, folderBefore, before } = entry;
  if (contracts.baseline !== undefined) {
    const files = await filesAtPlace(context, entry, contracts.baseline, now);
    return [{ name: contracts.baseline, version: versionIn(files), files }];
  }
  if (tree === null || merged === null)
    return fail(root, `${pointer} needs the member "baseline", because the folder is not in a git repository`);
  if (before === null) {
    const files = below(tree.files, folderBefore);
    // Without a package, there is no version to look for: what is merged counts as released.
    return [{ name: `commit ${tree.commit.slice(0, 12)}`, version: null, files }];
  }
  const { baselines } = await lastRelease(before);
  const rest = posix.relative(before.path, folderBefore);
  return baselines.map(({ name, version, files, path, tree: release }) => {
    if (release === null && rest.startsWith('..'))
      return fail(
        root,
        `${pointer ?? ''} is outside of ${before.path}, so ${name} does not contain it. Name a baseline.`,
      );
    const found =
      release === null
        ? below(files, rest)
        : below(release.files, rest.startsWith('..') ? folderBefore : posix.join(path, rest));
    return { name, version, files: found };
  });
}

/** The files in the folder of an entry at the place that the entry names as its baseline. */
async function filesAtPlace(
  { root, tree }: ComparisonContext,
  { contracts, pointer, folder, folderBefore }: Entry,
  place: string,
  now: PackageFiles,
): Promise<PackageFiles> {
  switch (kindOfPlace(place)) {
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
    case 'git':
      // From the root, because the folder may no longer exist.
      return below(await readFiles(place, root), folderBefore);
    case 'local': {
      // Changes cannot replace what they are compared with. A folder that git does not track is not part of them.
      const merged = tree === null ? new Map() : below(tree.files, normalized(place));
      return merged.size > 0 ? merged : readFiles(resolve(root, place), root);
    }
    case 'tarball':
      if (tree?.files.has(normalized(place)) === true)
        fail(
          root,
          `${pointer ?? ''}/baseline is a tarball in the repository, which changes can replace. Name a folder, or omit it.`,
        );
      return readFiles(resolve(root, place), root);
    case 'input':
    case 'npm':
      return readFiles(place, root);
  }
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

/** The version in the `package.json` of a folder. Null if it has none. */
function versionIn(files: PackageFiles): string | null {
  const read = files.get('package.json');
  const manifest = read === undefined ? null : parseJson(read()).value;
  const version = isJsonObject(manifest) ? ownMember(manifest, 'version') : null;
  return typeof version === 'string' ? version : null;
}

function fail(root: string, problem: string): never {
  throw new InputError(join(root, configFile), null, problem);
}
