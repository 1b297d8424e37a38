import { commonFolder } from './platform-folders.ts';
import { fileExists, readText } from './workspace-files.ts';

/** A version, as `versions.json` lists it. */
export interface ListedVersion {
  readonly version: string;
  readonly status: 'preview' | 'current' | 'deprecated' | 'retired';
  readonly deprecatedOn: string | null;
  readonly sunsetOn: string | null;
}

/**
 * All event types of a package of payloads, ordered by name, with their versions.
 *
 * @param folder that of the package: of a service, or the common half
 */
export function readEventVersions(folder: string): { type: string; versions: ListedVersion[] }[] {
  const types: Record<string, object> = JSON.parse(readText(listOf(folder)));
  return sorted(types).map(([type, versions]) => ({ type, versions: listedVersions(versions) }));
}

/**
 * The versions of an interface, oldest first.
 *
 * @param contract the folder of its contract
 */
export function readInterfaceVersions(contract: string): ListedVersion[] {
  return listedVersions(JSON.parse(readText(listOf(contract))));
}

function listOf(folder: string): string {
  return `${folder}/versions.json`;
}

function listedVersions(versions: object): ListedVersion[] {
  return sorted<Omit<ListedVersion, 'version'>>({ ...versions }).map(([version, state]) => ({ version, ...state }));
}

function sorted<Value>(values: Readonly<Record<string, Value>>): [key: string, value: Value][] {
  return Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * Returns the path of a file that a version in the list of a package of payloads needs.
 *
 * @throws {Error} if there is no such file
 */
export function requireFile(path: string, folder: string, type: string, version: string): string {
  if (!fileExists(path)) throw new Error(`${path} is missing, but ${listOf(folder)} lists ${type} at ${version}.`);
  return path;
}

/** Whether the platform defines the event. */
export function isOwnEvent(type: string): boolean {
  return Object.hasOwn(JSON.parse(readText(listOf(commonFolder))), type);
}

/**
 * The folder with the source and the fixtures of the payload of an event.
 *
 * @param payloads the package of payloads of the service
 */
export function contractFolderOf(payloads: string, type: string): string {
  return isOwnEvent(type) ? commonFolder : payloads;
}

/** The fixture with the typical body of a payload version. */
export function typicalBodyPath(payloads: string, type: string, version: string): string {
  return `${contractFolderOf(payloads, type)}/fixtures/${type}/${version}/accept/typical.json`;
}

/** The name of a version in code, for example `teamMemberAdded20261101`. */
export function identifierOf(type: string, version: string): string {
  const name = type.replaceAll(/[._-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return `${name}${compact(version)}`;
}

/** For example `20261101`. */
export function compact(date: string): string {
  return date.replaceAll('-', '');
}
