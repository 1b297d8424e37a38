import type { EventVersionStatus } from '@deedwire/webhook-events';
import { fileExists, readText } from './workspace-files.ts';

export interface EventLifecycle {
  readonly status: EventVersionStatus;
  readonly deprecatedOn: string | null;
  readonly sunsetOn: string | null;
}

export interface EventVersions {
  readonly type: string;
  /** Oldest first. */
  readonly versions: readonly { readonly version: string; readonly lifecycle: EventLifecycle }[];
}

const list = 'packages/webhook-events/versions.json';

/** The list of all event types and versions, ordered by name. */
export function readEventVersions(): EventVersions[] {
  const types: Record<string, Record<string, EventLifecycle>> = JSON.parse(readText(list));
  return sorted(types).map(([type, versions]) => ({
    type,
    versions: sorted(versions).map(([version, lifecycle]) => ({ version, lifecycle })),
  }));
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

/** The name of a version in code, for example `teamMemberAdded20261101`. */
export function identifierOf(type: string, version: string): string {
  const name = type.replaceAll(/[._]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return `${name}${compact(version)}`;
}

/** For example `20261101`. */
export function compact(date: string): string {
  return date.replaceAll('-', '');
}
