import { join, posix } from 'node:path';
import type { ComparisonSettings } from '../config/config.ts';
import { InputError } from '../input-error.ts';
import { isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { parseJson, type JsonDocument } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { filesOfFolder, type PackageFiles } from '../source/package-files.ts';
import type { SourceText } from '../text-file.ts';
import { hasContracts, releasedAppendOnly, snapshotOf, type Snapshot } from './snapshot.ts';

/** A package that contains contracts. */
export interface ContractPackage {
  readonly name: string;
  /** From `package.json`. Null if it has no version. */
  readonly version: string | null;
  /** The path of the folder, or the place that contains the package. */
  readonly location: string;
  readonly files: PackageFiles;
  readonly snapshot: Snapshot;
  readonly settings: PackageSettings;
}

/** The settings in `package.json` under `contractCheck`. */
export interface PackageSettings extends ComparisonSettings {
  /** The months between the deprecation of a version and its sunset, at least. */
  readonly minimumLifetimeMonths: number;
  /** Paths of JSON files that only gain entries. */
  readonly appendOnly: readonly string[];
  /** The packages that serve the contract and are released with it. */
  readonly servedBy: readonly string[];
}

export const defaultSettings: PackageSettings = {
  direction: 'producer',
  closedOutputs: false,
  directives: {},
  partial: false,
  openUnions: [],
  minimumLifetimeMonths: 0,
  appendOnly: [],
  servedBy: [],
};

/**
 * Finds the contract packages in a folder and its subfolders, ordered by name. Skips packages inside another package,
 * such as fixtures and examples, and the folders `node_modules`, `dist` and hidden folders.
 */
export function findContractPackages(root: string): ContractPackage[] {
  const files = filesOfFolder(root, isSkipped);
  if (files === null) throw new InputError(root, null, 'is not a readable folder');
  return contractPackagesAmong(files, (folder) => join(root, folder));
}

/**
 * The same, in the files of a folder or a commit.
 *
 * @param locationOf returns what reports show for a folder of the files. It is empty for the top
 */
export function contractPackagesAmong(files: PackageFiles, locationOf: (folder: string) => string): ContractPackage[] {
  const packages = new Map<string, Map<string, () => SourceText>>();
  // A package at the top without contracts is the root of a workspace.
  const topIsPackage = hasContracts(files);
  const isPackage = (folder: string): boolean =>
    files.has(posix.join(folder, 'package.json')) && (folder !== '' || topIsPackage);
  for (const [path, read] of files) {
    const steps = path.split('/').slice(0, -1);
    if (steps.some(isSkipped)) continue;
    // The outermost package contains the file.
    const folder = ['', ...steps.map((_, i) => steps.slice(0, i + 1).join('/'))].find(isPackage);
    if (folder === undefined) continue;
    const own = packages.get(folder) ?? new Map<string, () => SourceText>();
    packages.set(folder, own.set(posix.relative(folder, path), read));
  }
  return [...packages]
    .flatMap(([folder, own]) => contractPackageOf(locationOf(folder), own) ?? [])
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null if the files contain no contract or no `package.json`. */
export function contractPackageOf(location: string, files: PackageFiles): ContractPackage | null {
  const read = files.get('package.json');
  if (read === undefined) return null;
  const source = read();
  const document = parseJson(source);
  const manifest = isJsonObject(document.value) ? document.value : {};
  const settings = readSettings(document, ownMember(manifest, 'contractCheck'));
  const snapshot = snapshotOf(files, [...settings.appendOnly, ...releasedAppendOnly(files)]);
  if (snapshot.contracts.size === 0) return null;
  const name = ownMember(manifest, 'name');
  if (typeof name !== 'string') throw new InputError(source.file, 1, 'the field "name" is missing');
  const version = ownMember(manifest, 'version');
  return { name, version: typeof version === 'string' ? version : null, location, files, snapshot, settings };
}

function isSkipped(folderName: string): boolean {
  return /^(?:node_modules|dist|\..*)$/.test(folderName);
}

const validateSettings = validatorOf<Partial<PackageSettings>>('config.schema.json', 'package');

function readSettings(document: JsonDocument, value: JsonValue | undefined): PackageSettings {
  return { ...defaultSettings, ...(value === undefined ? {} : validateSettings(document, value, '/contractCheck')) };
}
