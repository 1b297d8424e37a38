import { locationAt, type Locator } from '../change.ts';
import { childPointer, isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import type { SourceText } from '../text-file.ts';

/**
 * The lifecycle status of a version. `preview`: may still break. `current`: released, may grow but not break.
 * `deprecated`: released, with a sunset date. `retired`: no longer served.
 */
export type VersionStatus = 'preview' | 'current' | 'deprecated' | 'retired';

export interface VersionState {
  readonly status: VersionStatus;
  /** `YYYY-MM-DD`. Null if the version is not deprecated. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`. Null if no sunset is planned. */
  readonly sunsetOn: string | null;
}

/** Released is the stricter assumption. */
export const unlisted: VersionState = { status: 'current', deprecatedOn: null, sunsetOn: null };

const validateAll = validatorOf<Readonly<Record<string, object>>>('config.schema.json', 'states');
const validate = validatorOf<Pick<VersionState, 'status'> & Partial<VersionState>>('config.schema.json', 'state');

/**
 * Reads `versions.json`, which contains states by version or, for families of contracts such as event types, by family
 * and version. The keys and the coordinates of the result are those of `versionKey`.
 */
export function readVersionStates(source: SourceText) {
  const document = parseJson(source);
  const states = new Map<string, VersionState>();
  validateAll(document, document.value);
  for (const [name, entry] of Object.entries(isJsonObject(document.value) ? document.value : {})) {
    const family = isJsonObject(entry) && typeof ownMember(entry, 'status') !== 'string' ? entry : null;
    for (const [version, each] of family === null ? [['', entry] as const] : Object.entries(family)) {
      const pointer = childPointer('', name);
      const state = validate(document, each, family === null ? pointer : childPointer(pointer, version));
      const key = family === null ? name : versionKey(name, version);
      states.set(key, { ...unlisted, ...state });
    }
  }
  const locator: Locator = {
    file: source.file,
    locationOf(version) {
      const steps = version.split('/');
      const [family, name] = [steps.slice(0, -1).join('/'), steps.at(-1) ?? ''];
      const line = document.lineOf(childPointer(family === '' ? '' : childPointer('', family), name));
      return locationAt(source.file, line);
    },
    parentOf: () => null,
  };
  /** `unlisted` if the file does not list the version. */
  const stateOf = (version: string): VersionState => states.get(version) ?? unlisted;
  return { stateOf, locator };
}

/** The key of the version in a file, by its name and the folders around it. Null if `versions.json` does not list it. */
export function listedVersionOf(path: string, document: JsonValue): string | null {
  const steps = path.replace(/(?:\.manifest)?\.\w+$/, '').split('/');
  const version = steps.at(-1) ?? '';
  for (const start of steps.keys()) {
    const family = steps.slice(start, -1).join('/');
    const entry = ownMember(family === '' ? document : ownMember(document, family), version);
    if (ownMember(entry, 'status') !== undefined) return versionKey(family, version);
  }
  return null;
}

/** The key of a version in a family. `family` is empty for contracts without a family. */
export function versionKey(family: string, version: string): string {
  return family === '' ? version : `${family}/${version}`;
}

/** The day of a point in time, `YYYY-MM-DD` in UTC. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

export function isDay(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}

/** The day months later. It may not exist (`2029-02-29`): as a text, it still precedes the first day of the next month. */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const count = year * 12 + month - 1 + months;
  const parts = [Math.floor(count / 12), (count % 12) + 1, date];
  return parts.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0')).join('-');
}
