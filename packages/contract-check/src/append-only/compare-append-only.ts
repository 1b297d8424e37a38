import { locatedReport, type Found, type Report } from '../change.ts';
import { withinStack } from '../input-error.ts';
import { canonicalJson, childPointer, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
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
    withinStack(to.file, () => compareEntries(before.value, now.value, found)),
  );
}

function compareEntries(from: JsonValue, to: JsonValue, found: Found): void {
  function compare(old: JsonValue, next: JsonValue, pointer: string): void {
    if (isJsonObject(old) && isJsonObject(next)) compareObjects(old, next, pointer);
    else if (Array.isArray(old) && Array.isArray(next)) compareLists(old, next, pointer);
    else if (canonicalJson(old) !== canonicalJson(next)) removed(pointer);
  }

  function compareObjects(old: JsonObject, next: JsonObject, pointer: string): void {
    for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
      const at = childPointer(pointer, key);
      const [value, nextValue] = [old[key], next[key]];
      if (documentation.has(key)) {
        if (canonicalJson(value ?? null) !== canonicalJson(nextValue ?? null))
          found(appendOnlyRules.entryDescribed, at, 'The description changed.');
      } else if (value === undefined) added(at);
      else if (nextValue === undefined) removed(at);
      else compare(value, nextValue, at);
    }
  }

  function compareLists(old: readonly JsonValue[], next: readonly JsonValue[], pointer: string): void {
    const rest = next.map(entryText);
    for (const [index, element] of old.entries()) {
      const at = rest.indexOf(entryText(element));
      if (at === -1) removed(childPointer(pointer, nameOf(element) ?? index));
      else rest.splice(at, 1);
    }
    if (rest.length > 0) added(`${pointer}/-`);
  }

  function added(pointer: string): void {
    found(appendOnlyRules.entryAdded, pointer, 'The entry was added.');
  }

  function removed(pointer: string): void {
    found(appendOnlyRules.entryRemoved, pointer, 'The entry was removed or changed.');
  }

  compare(from, to, '');
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
