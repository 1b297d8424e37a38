import type { EventVersionStatus } from '@deedwire/webhook-events';
import { fileExists, readText } from './workspace-files.ts';

/** A version, as `versions.json` lists it. */
export interface ListedVersion {
  readonly version: string;
  readonly status: EventVersionStatus;
  readonly deprecatedOn: string | null;
  readonly sunsetOn: string | null;
}

/** The payloads that the application publishes, with those of the platform. */
export const eventsFolder = 'packages/webhook-events';

/** The payloads of the platform itself. */
export const platformFolder = 'packages/webhook-contract';

const list = `${eventsFolder}/versions.json`;

/** All event types, ordered by name, with their versions. */
export function readEventVersions(): { type: string; versions: ListedVersion[] }[] {
  const types: Record<string, object> = JSON.parse(readText(list));
  return sorted(types).map(([type, versions]) => ({ type, versions: listedVersions(versions) }));
}

/** The versions of an interface, oldest first. */
export function readInterfaceVersions(packageFolder: string): ListedVersion[] {
  return listedVersions(JSON.parse(readText(`${packageFolder}/versions.json`)));
}

function listedVersions(versions: object): ListedVersion[] {
  return sorted<Omit<ListedVersion, 'version'>>({ ...versions }).map(([version, state]) => ({ version, ...state }));
}

function sorted<Value>(values: Readonly<Record<string, Value>>): [key: string, value: Value][] {
  return Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * Returns the path of a file that a listed version needs.
 *
 * @throws {Error} if there is no such file
 */
export function requireFile(path: string, type: string, version: string): string {
  if (!fileExists(path)) throw new Error(`${path} is missing, but ${list} lists ${type} at ${version}.`);
  return path;
}

/** Whether the platform defines the event. */
export function isOwnEvent(type: string): boolean {
  return Object.hasOwn(JSON.parse(readText(`${platformFolder}/versions.json`)), type);
}

/** The folder with the source and the fixtures of the payload of an event. */
export function contractFolderOf(type: string): string {
  return isOwnEvent(type) ? platformFolder : eventsFolder;
}

/** The typical body of a payload version, which is written by hand. */
export function typicalBodyPath(type: string, version: string): string {
  return `${contractFolderOf(type)}/fixtures/${type}/${version}/accept/typical.json`;
}

/** The folder of the definition of an event and of its renderers. */
export function folderOfEvent(type: string): string {
  return isOwnEvent(type) ? `packages/core/src/own-events/${type}` : `packages/firm/src/events/${type}`;
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
