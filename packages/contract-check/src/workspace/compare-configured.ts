import { join, posix, relative, resolve, sep } from 'node:path';
import { changeBy, type Notice } from '../change.ts';
import type { ApplyOverrides } from '../config/apply-overrides.ts';
import type { ConfiguredContracts } from '../config/config.ts';
import { configFile } from '../config/read-config.ts';
import { InputError } from '../input-error.ts';
import { isJsonObject, ownMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { filesOfFolder, matchingPaths, type PackageFiles } from '../source/package-files.ts';
import { packageOf } from '../source/package-of.ts';
import { kindOfPlace } from '../source/place.ts';
import { readFiles } from '../source/read-files.ts';
import { readServedSchema, readUrl } from '../source/url.ts';
import { compareFile } from './compare-file.ts';
import { compareSnapshots, type ContractChange } from './compare-snapshots.ts';
import type { ComparedPackage } from './compared-package.ts';
import { defaultSettings } from './contract-package.ts';
import { workspaceRules } from './rules.ts';
import { listedSnapshotOf } from './snapshot.ts';
import { listedVersionOf } from './version-status.ts';

/**
 * Compares the contracts that the configuration lists. Entries of one package are combined. The rules for versions apply to the
 * files that `versions.json` in the folder of an entry lists.
 *
 * @throws {InputError} when a baseline or a contract is missing or invalid.
 */
export async function compareConfigured(
  root: string,
  contracts: readonly ConfiguredContracts[],
  today: string,
  override: ApplyOverrides,
): Promise<ComparedPackage[]> {
  const packages = new Map<string, ComparedPackage>();
  for (const [index, entry] of contracts.entries()) {
    // One after the other, so that the first invalid entry is reported.
    const compared = await compareEntry(root, entry, `/contracts/${index}`, today, override);
    const other = packages.get(compared.name);
    packages.set(compared.name, other === undefined ? compared : combine(other, compared));
  }
  return [...packages.values()];
}

async function compareEntry(
  root: string,
  entry: ConfiguredContracts,
  pointer: string,
  today: string,
  override: ApplyOverrides,
): Promise<ComparedPackage> {
  const folder = join(root, entry.folder ?? '.');
  const fail = (problem: string): never => {
    throw new InputError(join(root, configFile), null, `${pointer}${problem}`);
  };
  const files = filesOfFolder(folder) ?? fail(`/folder does not exist: ${entry.folder}`);
  const now = matchingPaths(files, entry.files);
  const baseline = await readBaseline();
  const paths = new Set([...matchingPaths(baseline, entry.files), ...now]);
  if (paths.size === 0) fail(`/files match no file, neither in ${folder} nor in ${entry.baseline}`);
  const name =
    entry.package ?? packageOf(folder)?.name ?? fail(' needs the member "package", because no package.json has a name');
  const path = relative(root, folder).replaceAll(sep, '/');
  const notices: Notice[] = [];
  const settings = { ...defaultSettings, ...entry };
  const versions = versionsOf(entry, paths, [baseline, files]);
  const versioned = compareSnapshots(
    listedSnapshotOf(baseline, entry.kind, versions),
    listedSnapshotOf(files, entry.kind, versions),
    folder,
    settings,
    today,
    (change, file) => override(change, posix.join(path, file)),
  );
  notices.push(...versioned.notices);

  async function readBaseline(): Promise<PackageFiles> {
    const kind = kindOfPlace(entry.baseline);
    if (kind !== 'url') {
      const isPath = kind === 'local' || kind === 'tarball';
      return readFiles(isPath ? resolve(root, entry.baseline) : entry.baseline, folder);
    }
    if (now.length !== 1) fail(`/baseline is one file, but /files match ${now.length} files in ${folder}`);
    const source = await (entry.kind === 'graphql' ? readServedSchema : readUrl)(entry.baseline);
    // Nothing but the contract is known. The states of versions are those of now.
    return new Map([...files, ...now.map((only) => [only, () => source] as const)]);
  }

  function compare(file: string): ContractChange[] {
    const [old, next] = [baseline.get(file), files.get(file)];
    const place = { file, location: { file: join(folder, file), line: null }, breaksReleased: false };
    if (old === undefined)
      return [{ ...changeBy(workspaceRules.contractAdded, file, `${file} was added.`), ...place, oldLocation: null }];
    if (next === undefined) {
      const removed = changeBy(workspaceRules.contractRemoved, file, `${file} was removed.`);
      const oldLocation = { file: old().file, line: null };
      return [{ ...removed, ...place, oldLocation, breaksReleased: entry.frozen ?? false }];
    }
    const report = compareFile(entry.kind, old(), next(), settings);
    notices.push(...report.notices);
    return report.changes.map((found) => {
      const change = override(found, posix.join(path, file));
      const grows = entry.frozen === true || entry.kind === 'append-only';
      return { ...change, file, breaksReleased: grows && change.verdict === 'major' };
    });
  }

  return {
    name,
    path,
    version: versionIn(files),
    servedBy: entry.servedBy ?? [],
    baseline: { name: entry.baseline, version: versionIn(baseline) },
    changes: [
      ...versioned.changes,
      ...[...paths]
        .filter((file) => !versions.has(file))
        .toSorted()
        .flatMap(compare),
    ],
    notices,
  };
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

/** The version in the `package.json` of a folder. Null if it has none. */
function versionIn(files: PackageFiles): string | null {
  const read = files.get('package.json');
  const manifest = read === undefined ? null : parseJson(read()).value;
  const version = isJsonObject(manifest) ? ownMember(manifest, 'version') : null;
  return typeof version === 'string' ? version : null;
}

function combine(one: ComparedPackage, other: ComparedPackage): ComparedPackage {
  const names = new Set([one.baseline?.name ?? '', other.baseline?.name ?? '']);
  return {
    ...one,
    servedBy: [...new Set([...one.servedBy, ...other.servedBy])],
    baseline: { name: [...names].join(', '), version: one.baseline?.version ?? null },
    changes: [...one.changes, ...other.changes.filter((change) => !one.changes.some((each) => isSame(each, change)))],
    notices: [...one.notices, ...other.notices],
  };
}

/** Two entries can find the same change of a version as a whole. */
function isSame(one: ContractChange, other: ContractChange): boolean {
  const isOfVersion = one.file === 'versions.json' && other.file === 'versions.json';
  return isOfVersion && one.rule === other.rule && one.coordinate === other.coordinate && one.message === other.message;
}
