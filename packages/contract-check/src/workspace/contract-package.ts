import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../input-error.ts';
import { isDirection, type Direction } from '../json-schema/direction.ts';
import { isJsonObject, ownMember, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { isVerdict, type Verdict } from '../verdict.ts';
import { filesOfFolder, type PackageFiles } from './package-files.ts';
import { snapshotOf, type Snapshot } from './snapshot.ts';

/** A package that holds contracts. */
export interface ContractPackage {
  readonly name: string;
  /** As `package.json` has it; null: without one. */
  readonly version: string | null;
  /** Where it was found, for people. */
  readonly location: string;
  readonly files: PackageFiles;
  readonly snapshot: Snapshot;
  readonly settings: PackageSettings;
}

/** What `package.json` says under `contractCheck`. */
export interface PackageSettings {
  readonly direction: Direction;
  readonly closedOutputs: boolean;
  readonly directives: Readonly<Record<string, Verdict>>;
}

/**
 * Every package at or below a folder that holds contracts, ordered by name. A package inside another one (a fixture, an
 * example) is not one of its own; neither is what stands in `node_modules`, `dist` or a hidden folder.
 */
export function findContractPackages(root: string): ContractPackage[] {
  const found: ContractPackage[] = [];
  const pending = [root];
  for (const folder of pending) {
    const hasManifest = existsSync(join(folder, 'package.json'));
    if (hasManifest && !holdsOthers(folder, root)) {
      const files = filesOfFolder(folder);
      const contractPackage = files === null ? null : contractPackageOf(folder, files);
      if (contractPackage !== null) found.push(contractPackage);
    } else {
      pending.push(...foldersIn(folder));
    }
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null: without contracts. */
export function contractPackageOf(location: string, files: PackageFiles): ContractPackage | null {
  const snapshot = snapshotOf(files);
  const read = files.get('package.json');
  if (snapshot.contracts.size === 0 || read === undefined) return null;
  const source = read();
  const { value } = parseJson(source);
  const name = isJsonObject(value) ? ownMember(value, 'name') : undefined;
  if (!isJsonObject(value) || typeof name !== 'string') throw new InputError(source.file, 1, 'has no name');
  const version = ownMember(value, 'version');
  const settings = readSettings(source.file, ownMember(value, 'contractCheck') ?? {});
  return { name, version: typeof version === 'string' ? version : null, location, files, snapshot, settings };
}

/** The root of a workspace has a `package.json` too; it is a contract package only when it holds contracts itself. */
function holdsOthers(folder: string, root: string): boolean {
  return folder === root && !existsSync(join(folder, 'versions')) && !existsSync(join(folder, 'json-schema'));
}

function foldersIn(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new InputError(folder, null, 'is not a folder that can be read', { cause: error });
  }
  return entries
    .filter((entry) => entry.isDirectory() && !/^(node_modules|dist|\..*)$/.test(entry.name))
    .map((entry) => join(folder, entry.name));
}

function readSettings(file: string, value: unknown): PackageSettings {
  const fail = (name: string, expected: string): never => {
    throw new InputError(file, null, `/contractCheck/${name} is not ${expected}`);
  };
  const settings: JsonObject = isJsonObject(value) ? value : fail('', 'an object');
  const direction = ownMember(settings, 'direction') ?? 'producer';
  const closedOutputs = ownMember(settings, 'closedOutputs') ?? false;
  const directives = ownMember(settings, 'directives') ?? {};
  const verdicts: [string, Verdict][] = [];
  for (const [name, verdict] of Object.entries(
    isJsonObject(directives) ? directives : fail('directives', 'an object'),
  )) {
    verdicts.push([name, isVerdict(verdict) ? verdict : fail(`directives/${name}`, 'a verdict')]);
  }
  return {
    direction: isDirection(direction) ? direction : fail('direction', 'producer, consumer or both'),
    closedOutputs: typeof closedOutputs === 'boolean' ? closedOutputs : fail('closedOutputs', 'true or false'),
    directives: Object.fromEntries(verdicts),
  };
}
