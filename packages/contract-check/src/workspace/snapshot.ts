import type { SourceText } from '../text-file.ts';
import { below, type PackageFiles } from './package-files.ts';
import { readVersionStates, unlisted, versionKey, type VersionState } from './version-status.ts';

type ContractKind = 'graphql' | 'manifest' | 'json-schema';

/** One file that promises something. */
export interface ContractFile {
  readonly kind: ContractKind;
  /** The file's path in its package, as it stands in the working tree: `versions/2026-11-01.graphql`. */
  readonly path: string;
  /** Which version it belongs to, as `versionKey` names it. */
  readonly version: string;
  readonly read: () => SourceText;
}

/** What a package promises at one time. */
export interface Snapshot {
  /** Path → file. */
  readonly contracts: ReadonlyMap<string, ContractFile>;
  /** The state of a version that has files, or is listed. */
  stateOf(version: string): VersionState;
}

/** Folder → the names of contracts in it and their kind, most particular first. */
const layout: Readonly<Record<'versions' | 'json-schema', readonly (readonly [ending: string, kind: ContractKind])[]>> =
  {
    versions: [
      ['.graphql', 'graphql'],
      ['.manifest.json', 'manifest'],
    ],
    'json-schema': [['.json', 'json-schema']],
  };

/**
 * The contracts of a package: `versions/*.graphql`, `versions/*.manifest.json`, `json-schema/**\/*.json`. The name of a
 * file is its version, the folders around it are its family. Empty: the package promises nothing that is checked.
 */
export function snapshotOf(files: PackageFiles): Snapshot {
  return snapshot([...contractsIn(files, 'versions'), ...contractsIn(files, 'json-schema')], files);
}

/** A `released/` folder: the same, where the two folder names may be left out. Null: nothing is in it. */
export function releasedSnapshotOf(files: PackageFiles): Snapshot | null {
  const released = below(files, 'released');
  const found = snapshotOf(released);
  const bare = new Map(
    [...released].filter(([path]) => !/^(?:versions\/|json-schema\/|versions\.json$|package\.json$)/.test(path)),
  );
  const manifestsAndSdl = contractsAmong(bare, 'versions');
  const taken = new Set(manifestsAndSdl.map(({ read }) => read));
  const schemas = contractsAmong(new Map([...bare].filter(([, read]) => !taken.has(read))), 'json-schema');
  const all = [...found.contracts.values(), ...manifestsAndSdl, ...schemas];
  return all.length === 0 ? null : snapshot(all, released);
}

function snapshot(contracts: readonly ContractFile[], files: PackageFiles): Snapshot {
  const listed = files.get('versions.json');
  const states = listed === undefined ? new Map<string, VersionState>() : readVersionStates(listed());
  return {
    contracts: new Map(contracts.map((contract) => [contract.path, contract])),
    stateOf: (version) => states.get(version) ?? unlisted,
  };
}

function contractsIn(files: PackageFiles, folder: keyof typeof layout): ContractFile[] {
  return contractsAmong(below(files, folder), folder);
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
