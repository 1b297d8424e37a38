import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ComparisonSettings } from '../config/config.ts';
import { InputError } from '../input-error.ts';
import { isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { parseJson, type JsonDocument } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { filesOfFolder, type PackageFiles } from '../source/package-files.ts';
import { releasedAppendOnly, snapshotOf, type Snapshot } from './snapshot.ts';

/** A package that contains contracts. */
export interface ContractPackage {
  readonly name: string;
  /** From `package.json`. Null if it has no version. */
  readonly version: string | null;
  /** The path of the folder or tarball. */
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

export const defaultComparison: ComparisonSettings = {
  direction: 'producer',
  closedOutputs: false,
  directives: {},
  openUnions: [],
};

const defaultSettings: PackageSettings = {
  ...defaultComparison,
  minimumLifetimeMonths: 0,
  appendOnly: [],
  servedBy: [],
};

/**
 * Finds the contract packages in a folder and its subfolders, ordered by name. Skips packages inside another package,
 * such as fixtures and examples, and the folders `node_modules`, `dist` and hidden folders.
 */
export function findContractPackages(root: string): ContractPackage[] {
  const found: ContractPackage[] = [];
  const pending = [root];
  for (const folder of pending) {
    const hasManifest = existsSync(join(folder, 'package.json'));
    if (hasManifest && !isRootWithoutContracts(folder, root)) {
      const files = filesOfFolder(folder);
      const contractPackage = files === null ? null : contractPackageOf(folder, files);
      if (contractPackage !== null) found.push(contractPackage);
    } else {
      pending.push(...foldersIn(folder));
    }
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
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

/** Whether a folder is the root of a workspace and contains no contracts itself. */
function isRootWithoutContracts(folder: string, root: string): boolean {
  return folder === root && !['versions', 'json-schema', 'api'].some((name) => existsSync(join(folder, name)));
}

function foldersIn(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new InputError(folder, null, 'is not a readable folder', { cause: error });
  }
  return entries
    .filter((entry) => entry.isDirectory() && !/^(node_modules|dist|\..*)$/.test(entry.name))
    .map((entry) => join(folder, entry.name));
}

const validateSettings = validatorOf<Partial<PackageSettings>>('config.schema.json', 'package');

function readSettings(document: JsonDocument, value: JsonValue | undefined): PackageSettings {
  return { ...defaultSettings, ...(value === undefined ? {} : validateSettings(document, value, '/contractCheck')) };
}
