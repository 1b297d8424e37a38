import type { Locator } from '../change.ts';
import type { ConfiguredContracts, ContractKind } from '../config/config.ts';
import { below, matchingPaths, type PackageFiles } from '../source/package-files.ts';
import type { SourceText } from '../text-file.ts';
import { readVersionStates, unlisted, versionKey, type VersionState, type VersionStates } from './version-status.ts';

/** A contract file. */
export interface ContractFile {
  readonly kind: ContractKind;
  /** The path in the package, also for a file in `released/`: `versions/2026-11-01.graphql`. */
  readonly path: string;
  /** In the form of `versionKey`. Null without versions. An API report belongs to the package as a whole nevertheless. */
  readonly version: string | null;
  readonly read: () => SourceText;
}

/** The contracts of a package at one time. */
export interface Snapshot {
  /** By path. */
  readonly contracts: ReadonlyMap<string, ContractFile>;
  /** The state in `versions.json`, or the default state if the version is not listed. */
  stateOf(version: string): VersionState;
  /** The lines of versions in `versions.json`. */
  readonly versionLocator: Locator;
}

/** The file name endings of contracts and their kinds, by folder. */
const layout: Readonly<
  Record<'versions' | 'json-schema' | 'api', readonly (readonly [ending: string, kind: ContractKind])[]>
> = {
  versions: [
    ['.graphql', 'graphql'],
    ['.manifest.json', 'manifest'],
  ],
  'json-schema': [['.json', 'json-schema']],
  api: [['.api.json', 'api']],
};

/** Whether a path in a package is in one of the documented folders. */
export function isInLayout(path: string): boolean {
  return Object.keys(layout).some((folder) => path.startsWith(`${folder}/`));
}

/** Patterns of contracts in the documented folders of any package. */
export const layoutPatterns: readonly string[] = Object.entries(layout).flatMap(([folder, endings]) =>
  endings.map(([ending]) => `**/${folder}/**/*${ending}`),
);

/**
 * The contracts of a package: `versions/*.graphql`, `versions/*.manifest.json`, `json-schema/**\/*.json`,
 * `api/**\/*.api.json` and the append-only files. The file name is the version, and the folders around the file are the
 * family. Empty if the package has no contracts.
 *
 * @param appendOnly paths of append-only files
 */
export function snapshotOf(files: PackageFiles, appendOnly: Iterable<string>): Snapshot {
  return snapshot(contractsOf(files, appendOnly), files);
}

/** The paths of the contracts in a snapshot. */
export function contractPaths(files: PackageFiles, appendOnly: Iterable<string>): string[] {
  return contractsOf(files, appendOnly).map(({ path }) => path);
}

/** The contracts of a package, whatever `versions.json` says about them. */
export function contractsOf(files: PackageFiles, appendOnly: Iterable<string>): ContractFile[] {
  return [...contractsInFolders(files), ...filesAmong(files, appendOnly, 'append-only', () => null)];
}

/** Whether a folder contains contracts other than append-only files. */
export function hasContracts(files: PackageFiles): boolean {
  return contractsInFolders(files).length > 0;
}

function contractsInFolders(files: PackageFiles): ContractFile[] {
  return (['versions', 'json-schema', 'api'] as const).flatMap((folder) =>
    contractsAmong(below(files, folder), folder),
  );
}

/** The files in `released/` by their paths in the package, and the append-only ones. Null if it has no contracts. */
export function releasedFolderOf(files: PackageFiles) {
  const released = below(files, 'released');
  // The JSON files at the top that are no contracts of another kind. They stay append-only if the setting no longer lists them.
  const appendOnly = [...released.keys()].filter(
    (path) =>
      /^[^/]+\.json$/.test(path) &&
      !/^(?:versions|package)\.json$|\.manifest\.json$/.test(path) &&
      !files.has(`json-schema/${path}`),
  );
  // The folder names `versions` and `json-schema` may be omitted.
  const pathOf = (path: string): string => {
    if (/^(?:versions\/|json-schema\/|api\/|versions\.json$|package\.json$)/.test(path) || appendOnly.includes(path))
      return path;
    return `${/\.graphql$|\.manifest\.json$/.test(path) ? 'versions' : 'json-schema'}/${path}`;
  };
  const moved = new Map([...released].map(([path, read]) => [pathOf(path), read]));
  return contractPaths(moved, appendOnly).length === 0 ? null : { files: moved, appendOnly };
}

/** The files of an entry of the configuration. `versionOf` returns what `versions.json` lists for a path, or null. */
export function configuredIn(
  files: PackageFiles,
  { kind, files: patterns }: ConfiguredContracts,
  versionOf: (path: string) => string | null = () => null,
): ContractFile[] {
  return filesAmong(files, matchingPaths(files, patterns), kind, versionOf);
}

const noVersions: VersionStates = {
  states: new Map(),
  locator: { file: 'versions.json', locationOf: () => null, parentOf: () => null },
};

/** @param files among them is the `versions.json` that applies */
export function snapshot(contracts: readonly ContractFile[], files: PackageFiles): Snapshot {
  const listed = files.get('versions.json');
  const { states, locator }: VersionStates = listed === undefined ? noVersions : readVersionStates(listed());
  return {
    contracts: new Map(contracts.map((contract) => [contract.path, contract])),
    stateOf: (version) => states.get(version) ?? unlisted,
    versionLocator: locator,
  };
}

function contractsAmong(files: PackageFiles, folder: keyof typeof layout): ContractFile[] {
  return [...files].flatMap(([path, read]) => {
    const [ending, kind] = layout[folder].find(([each]) => path.endsWith(each)) ?? [];
    if (ending === undefined || kind === undefined) return [];
    const steps = path.slice(0, -ending.length).split('/');
    const version = versionKey(steps.slice(0, -1).join('/'), steps.at(-1) ?? '');
    return [{ kind, path: `${folder}/${path}`, version, read }];
  });
}

function filesAmong(
  files: PackageFiles,
  paths: Iterable<string>,
  kind: ContractKind,
  versionOf: (path: string) => string | null,
): ContractFile[] {
  return [...new Set(paths)].flatMap((path) => {
    const read = files.get(path);
    return read === undefined ? [] : [{ kind, path, version: versionOf(path), read }];
  });
}
