import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Package } from '../config/generated/config.ts';
import { failAt, ifValid, InputError } from '../input-error.ts';
import { ownMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { remembered } from '../remembered.ts';
import { below, filesOfFolder, type PackageFiles } from '../source/package-files.ts';
import { readSourceText, type SourceText } from '../text-file.ts';
import { publishedVersion } from '../version-bump.ts';
import { contractPaths } from './snapshot.ts';
import { workspaceMembers } from './workspace-members.ts';

/** A package of a workspace, in a folder, a commit or a tarball. */
export interface WorkspacePackage {
  readonly name: string;
  /** From `package.json`. Null if it has no version. */
  readonly version: string | null;
  /** The folder, relative to the root of the workspace. Empty for the root and for a tarball. */
  readonly path: string;
  readonly files: PackageFiles;
  readonly settings: PackageSettings;
}

/**
 * The settings in `package.json` under `contractCheck`. `appendOnly`: paths of JSON files that only gain entries. `servedBy`: the packages
 * that serve the contract and are released with it.
 */
export interface PackageSettings extends Required<Package> {
  /** Whether no bump allows to break what has no version. Undefined if that is so of append-only files alone. */
  readonly frozen?: boolean;
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

/** The files in which `findPackages` looks for packages. `leftOut` is the result of `filesLeftOut`. */
export function workspaceFiles(folder: string, leftOut: PackageFiles): PackageFiles {
  const files = filesOfFolder(folder, isSkipped);
  if (files === null) failAt(folder, 'is not a readable folder');
  return new Map([...[...leftOut].filter(([path]) => !isInSkipped(posix.dirname(path))), ...files]);
}

/** Adds the packages in skipped folders that the workspace lists and git has (`tracked`): others come from a build. */
export function withSkippedMembers(files: PackageFiles, folder: string, tracked: Iterable<string>): PackageFiles {
  const members = workspaceMembers(files);
  if (!members.areListed) return files;
  const skipped = [...tracked].filter((path) => isInSkipped(posix.dirname(path)));
  const packages = skipped
    .filter((path) => posix.basename(path) === 'package.json' && members.includes(posix.dirname(path)))
    .map((path) => `${posix.dirname(path)}/`);
  const added = skipped.filter(
    (path) => packages.some((start) => path.startsWith(start)) && existsSync(join(folder, path)),
  );
  return new Map([...files, ...added.map((path) => [path, () => readSourceText(join(folder, path))] as const)]);
}

/** Returns the package in a folder. Null if the folder has no `package.json` that names one. */
export type ReadPackage = (path: string) => WorkspacePackage | null;

/** Returns what to read in place of an invalid `package.json` in a folder. Null for none. May throw. */
type OnInvalid = (path: string, error: InputError) => SourceText | null;

/** Reads each package once. */
export function packageReader(files: PackageFiles, onInvalid: OnInvalid = skipFixtures(files)): ReadPackage {
  return remembered((path) => {
    const own = below(files, path);
    return ifValid(
      () => packageOfFiles(path, own),
      (error) => {
        const other = onInvalid(path, error);
        return other === null ? null : packageOfFiles(path, new Map([...own, ['package.json', () => other]]));
      },
    );
  });
}

/** Skips a `package.json` that package managers cannot read, which can be a test fixture, unless there are contracts. */
function skipFixtures(files: PackageFiles): OnInvalid {
  return (path, error) => {
    if (contractPaths(below(files, path), []).length > 0 || isObject(files.get(posix.join(path, 'package.json'))))
      throw error;
    return null;
  };
}

/** Whether a file is a JSON object, including with duplicate names, which package managers accept. */
function isObject(read: (() => SourceText) | undefined): boolean {
  try {
    return read !== undefined && /^\s*\{/.test(read().text) && JSON.parse(read().text) !== null;
  } catch {
    return false;
  }
}

/**
 * Finds the packages of a workspace, ordered by name. Skips `node_modules`, `dist`, hidden folders, and packages inside another
 * package, such as fixtures and examples, unless the root lists them as members of the workspace. The root is a package if it
 * contains contracts itself. It only hides the packages inside it if it has no workspaces. Several packages can have one name,
 * for example a fixture.
 */
export function findPackages(files: PackageFiles, read = packageReader(files)): WorkspacePackage[] {
  const manifests = [...files.keys()].filter((path) => posix.basename(path) === 'package.json');
  const root = read('');
  const members = workspaceMembers(files);
  const isPackage = root !== null && isContractPackage(root);
  const folders = manifests
    .filter((path) => path !== 'package.json')
    .map((path) => posix.dirname(path))
    .filter((folder) => !isInSkipped(folder) || members.includes(folder))
    .toSorted((a, b) => a.length - b.length);
  const outer = isPackage ? [''] : [];
  for (const folder of folders) {
    const isInside = outer.some((other) => (other === '' ? !members.areListed : folder.startsWith(`${other}/`)));
    if (!isInside || members.includes(folder)) outer.push(folder);
  }
  return outer.flatMap((path) => read(path) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null without a `package.json`, or if it has no name and the package no contracts. */
export function packageOfFiles(path: string, files: PackageFiles): WorkspacePackage | null {
  const read = files.get('package.json');
  if (read === undefined) return null;
  const source = read();
  const document = parseJson(source);
  const stated = ownMember(document.value, 'contractCheck');
  const settings = {
    ...defaultSettings,
    ...(stated === undefined ? {} : validateSettings(document, stated, '/contractCheck')),
  };
  const [name, version] = [ownMember(document.value, 'name'), ownMember(document.value, 'version')];
  const own = new Map([...files].filter(([file]) => !isInSkipped(file)));
  if (typeof name !== 'string') {
    if (contractPaths(own, settings.appendOnly).length === 0) return null;
    throw new InputError(source.file, 1, 'the field "name" is missing');
  }
  return { name, version: publishedVersion(version), path, files: own, settings };
}

/** Whether a package has contracts in the documented folders. */
export function isContractPackage({ files, settings }: WorkspacePackage): boolean {
  return contractPaths(files, settings.appendOnly).length > 0;
}

function isInSkipped(folder: string): boolean {
  return folder.split('/').some(isSkipped);
}

/** Folders of this name contain no package of the workspace, unless the root lists one. */
function isSkipped(folderName: string): boolean {
  return /^(?:node_modules|dist|\..*)$/.test(folderName);
}

const validateSettings = validatorOf<Package>('config.schema.json', 'package');
