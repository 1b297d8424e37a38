import { InputError } from '../input-error.ts';
import { childPointer, isJsonObject, ownMember, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';

/**
 * Where a version stands in its life. `preview`: it may still break. `current`: released, from now on it only grows.
 * `deprecated`: released and with an end. `retired`: it is not served any more.
 */
export type VersionStatus = 'preview' | 'current' | 'deprecated' | 'retired';

export interface VersionState {
  readonly status: VersionStatus;
  /** `YYYY-MM-DD`; null: not deprecated. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`; null: no end is planned. */
  readonly sunsetOn: string | null;
}

/** What a version is that no `versions.json` lists: released, the stricter case. */
export const unlisted: VersionState = { status: 'current', deprecatedOn: null, sunsetOn: null };

const statuses: readonly string[] = ['preview', 'current', 'deprecated', 'retired'] satisfies VersionStatus[];

/**
 * Reads `versions.json`: version → state, or, for families of contracts (event types), family → version → state. The keys
 * of the result are those of `versionKey`.
 */
export function readVersionStates(source: SourceText): Map<string, VersionState> {
  const document = parseJson(source);
  const states = new Map<string, VersionState>();

  function fail(pointer: string, problem: string): never {
    throw new InputError(source.file, document.lineOf(pointer), `${pointer === '' ? 'the file' : pointer} ${problem}`);
  }

  function readState(pointer: string, entry: JsonObject): VersionState {
    const status = ownMember(entry, 'status');
    if (!isStatus(status)) fail(childPointer(pointer, 'status'), `is not one of ${statuses.join(', ')}`);
    return {
      status,
      deprecatedOn: readDay(pointer, entry, 'deprecatedOn'),
      sunsetOn: readDay(pointer, entry, 'sunsetOn'),
    };
  }

  function readDay(pointer: string, entry: JsonObject, name: string): string | null {
    const day = ownMember(entry, name) ?? null;
    if (day === null) return null;
    if (typeof day !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(day))
      fail(childPointer(pointer, name), 'is not YYYY-MM-DD or null');
    return day;
  }

  if (!isJsonObject(document.value)) fail('', 'is not an object');
  for (const [name, entry] of Object.entries(document.value)) {
    const pointer = childPointer('', name);
    if (!isJsonObject(entry)) fail(pointer, 'is not an object');
    if (typeof ownMember(entry, 'status') === 'string') {
      states.set(versionKey('', name), readState(pointer, entry));
      continue;
    }
    for (const [version, inner] of Object.entries(entry)) {
      const innerPointer = childPointer(pointer, version);
      if (!isJsonObject(inner)) fail(innerPointer, 'is not an object with a status');
      states.set(versionKey(name, version), readState(innerPointer, inner));
    }
  }
  return states;
}

/** Names one version of one family; the family of contracts that have none is empty. */
export function versionKey(family: string, version: string): string {
  return family === '' ? version : `${family}/${version}`;
}

function isStatus(value: unknown): value is VersionStatus {
  return typeof value === 'string' && statuses.includes(value);
}
