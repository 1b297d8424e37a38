import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../input-error.ts';
import { isDirection, type Direction } from '../json-schema/direction.ts';
import { isJsonObject, ownMember, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { isVerdict, type Verdict } from '../verdict.ts';
import { filesOfFolder, type PackageFiles } from './package-files.ts';
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
export interface PackageSettings {
  readonly direction: Direction;
  readonly closedOutputs: boolean;
  readonly directives: Readonly<Record<string, Verdict>>;
  /** The months between the deprecation of a version and its sunset, at least. */
  readonly minimumLifetimeMonths: number;
  /** Paths of JSON files that only gain entries. */
  readonly appendOnly: readonly string[];
  /** Names of exported TypeScript unions whose users handle types that they do not know. */
  readonly openUnions: readonly string[];
  /** The packages that serve the contract and are released with it. */
  readonly servedBy: readonly string[];
}

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
  const { value } = parseJson(source);
  const manifest = isJsonObject(value) ? value : {};
  const settings = readSettings(source.file, ownMember(manifest, 'contractCheck') ?? {});
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

function readSettings(file: string, value: unknown): PackageSettings {
  const fail = (pointer: string, expected: string): never => {
    throw new InputError(file, null, `/contractCheck${pointer} must be ${expected}`);
  };
  const settings: JsonObject = isJsonObject(value) ? value : fail('', 'an object');
  const direction = ownMember(settings, 'direction') ?? 'producer';
  const closedOutputs = ownMember(settings, 'closedOutputs') ?? false;
  const directives = ownMember(settings, 'directives') ?? {};
  const months = ownMember(settings, 'minimumLifetimeMonths') ?? 0;
  const texts = (name: string): string[] => {
    const list = ownMember(settings, name) ?? [];
    const isList = Array.isArray(list) && list.every((each) => typeof each === 'string');
    return isList ? list : fail(`/${name}`, 'a list of strings');
  };
  const verdicts: [string, Verdict][] = [];
  for (const [name, verdict] of Object.entries(
    isJsonObject(directives) ? directives : fail('/directives', 'an object'),
  )) {
    verdicts.push([name, isVerdict(verdict) ? verdict : fail(`/directives/${name}`, 'none, patch, minor or major')]);
  }
  return {
    direction: isDirection(direction) ? direction : fail('/direction', 'producer, consumer or both'),
    closedOutputs: typeof closedOutputs === 'boolean' ? closedOutputs : fail('/closedOutputs', 'true or false'),
    directives: Object.fromEntries(verdicts),
    minimumLifetimeMonths: isCount(months) ? months : fail('/minimumLifetimeMonths', 'a whole number of months'),
    appendOnly: texts('appendOnly'),
    openUnions: texts('openUnions'),
    servedBy: texts('servedBy'),
  };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}
