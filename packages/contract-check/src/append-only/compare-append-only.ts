import { locatedReport, type Found, type Report } from '../change.ts';
import { withinStack } from '../input-error.ts';
import { canonicalJson, childPointer, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { parseJson, pointerLocator } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';
import { appendOnlyRules } from './rules.ts';

const documentation = new Set(['$comment', 'description', 'why']);

/**
 * Compares two versions of a JSON file that only gains entries. Members of objects are compared by name. Elements of
 * arrays are compared as a whole, in any order.
 */
export function compareAppendOnly(from: SourceText, to: SourceText): Report {
  const [before, now] = [parseJson(from), parseJson(to)];
  return locatedReport(pointerLocator(before), pointerLocator(now), (found) =>
    withinStack(to.file, () => compareEntries(found, before.value, now.value, '')),
  );
}

function compareEntries(found: Found, from: JsonValue, to: JsonValue, pointer: string): void {
  const added = (at: string): void => found(appendOnlyRules.entryAdded, at, 'The entry was added.');
  const removed = (at: string): void => found(appendOnlyRules.entryRemoved, at, 'The entry was removed or changed.');
  if (isJsonObject(from) && isJsonObject(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
      const at = childPointer(pointer, key);
      const [old, next] = [from[key], to[key]];
      if (documentation.has(key)) {
        if (canonicalJson(old ?? null) !== canonicalJson(next ?? null))
          found(appendOnlyRules.entryDescribed, at, 'The description changed.');
      } else if (old === undefined) added(at);
      else if (next === undefined) removed(at);
      else compareEntries(found, old, next, at);
    }
  } else if (Array.isArray(from) && Array.isArray(to)) {
    const rest = to.map(entryText);
    for (const [index, element] of from.entries()) {
      const at = rest.indexOf(entryText(element));
      if (at === -1) removed(childPointer(pointer, nameOf(element) ?? index));
      else rest.splice(at, 1);
    }
    if (rest.length > 0) added(`${pointer}/-`);
  } else if (canonicalJson(from) !== canonicalJson(to)) removed(pointer);
}

/** An entry without its documentation. */
function entryText(value: JsonValue): string {
  return canonicalJson(withoutDocumentation(value));
}

function withoutDocumentation(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDocumentation);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !documentation.has(key));
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutDocumentation(member)]));
}

function nameOf(element: JsonValue): string | null {
  const name = isJsonObject(element) ? element['name'] : element;
  return typeof name === 'string' ? name : null;
}
