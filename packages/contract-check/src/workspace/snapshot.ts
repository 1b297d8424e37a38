import type { ConfiguredContracts, ContractKind } from '../config/config.ts';
import { below, matchingPaths, type PackageFiles } from '../source/package-files.ts';
import type { SourceText } from '../text-file.ts';
import { readVersionStates, versionKey } from './version-status.ts';

/** A contract file. */
export interface ContractFile {
  readonly kind: ContractKind;
  /** The path in the package, including for a file in `released/`: `versions/2026-11-01.graphql`. */
  readonly path: string;
  /** In the form of `versionKey`. Null without versions. An API report belongs to the package as a whole nevertheless. */
  readonly version: string | null;
  readonly read: () => SourceText;
}

/** The contracts of a package at one time. */
export type Snapshot = ReturnType<typeof snapshot>;

/** The contracts in the documented folders, by the endings of their names. */
const layout = [
  { folder: 'versions', ending: '.graphql', kind: 'graphql' },
  { folder: 'versions', ending: '.manifest.json', kind: 'manifest' },
  { folder: 'json-schema', ending: '.json', kind: 'json-schema' },
  { folder: 'api', ending: '.api.json', kind: 'api' },
] as const;

const folders = new Set(layout.map(({ folder }) => folder));

/** Whether a path in a package is in one of the documented folders. */
export function isInLayout(path: string): boolean {
  return layout.some(({ folder }) => path.startsWith(`${folder}/`));
}

/** Patterns of contracts in the documented folders of any package. */
export const layoutPatterns: readonly string[] = layout.map(({ folder, ending }) => `**/${folder}/**/*${ending}`);

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
  const inFolders = [...folders].flatMap((folder) =>
    [...below(files, folder)].flatMap(([path, read]) => {
      const found = layout.find((each) => each.folder === folder && path.endsWith(each.ending));
      if (found === undefined) return [];
      const steps = path.slice(0, -found.ending.length).split('/');
      const version = versionKey(steps.slice(0, -1).join('/'), steps.at(-1) ?? '');
      return [{ kind: found.kind, path: `${folder}/${path}`, version, read }];
    }),
  );
  return [...inFolders, ...filesAmong(files, appendOnly, 'append-only', () => null)];
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

/**
 * @param files among them is the `versions.json` that applies
 * @param schemas the SDL of versions of which only the manifests are among the contracts
 */
export function snapshot(
  contracts: readonly ContractFile[],
  files: PackageFiles,
  schemas: readonly ContractFile[] = [],
) {
  const listed = files.get('versions.json')?.() ?? { file: 'versions.json', text: '{}' };
  return {
    /** By path. */
    contracts: new Map(contracts.map((contract) => [contract.path, contract])),
    schemas,
    ...readVersionStates(listed),
  };
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
