import { report, type Change, type Report } from '../change.ts';
import { describeDifference } from '../describe-difference.ts';
import { withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import { comparePlace } from './compare-place.ts';
import { changeInDirection, type Comparison, type JsonSchemaOptions, type Place } from './comparison.ts';
import { definitionsIn, onlyDefines, unreachedNotices } from './definitions.ts';
import { dialectRule } from './dialects.ts';
import { keywordValues, show } from './keyword-values.ts';
import { locateChange } from './locate-change.ts';
import { jsonSchemaRules } from './rules.ts';
import { readSchemaDocument, schemas, type Schema, type SchemaDocument } from './schema-document.ts';

type FoundAt = (place: Place, ...found: Parameters<Comparison['found']>) => void;

/**
 * Compares two JSON Schemas. A schema may refer to files next to it if its source has `readRelative`.
 *
 * @throws {InputError} when a schema is invalid.
 */
export function compareJsonSchemas(from: SourceText, to: SourceText, options: JsonSchemaOptions): Report {
  const changes: Change[] = [];
  const before = withinStack(from.file, () => readSchemaDocument(from, true));
  const now = withinStack(to.file, () => readSchemaDocument(to));
  const notices = [...before.notices, ...now.notices];
  const found: FoundAt = (place, rule, path, message) => {
    const change = changeInDirection(jsonSchemaRules[rule], options.direction, path, message);
    const located = locateChange(before, now, place, path);
    changes.push({ ...change, ...located });
    if (rule !== 'unknownKeywordChanged') return;
    const notice = `The keyword ${message.split(' ', 1)[0]} is unknown, so its effect on values was not compared.`;
    notices.push({ location: located.location, message: notice });
  };
  withinStack(to.file, () => {
    const start = { path: '$', from: before.root, to: now.root };
    compareIdentities(before, now, (...change) => found(start, ...change));
    const places = [start, ...comparedDefinitions(before, now, found)];
    if (!onlyDefines(before)) notices.push(...unreachedNotices(before, now));
    const sides = { from: before, to: now, closedOutputs: options.closedOutputs ?? false };
    comparePlaces(sides, places, found);
    if (!before.refHidesSiblings && !now.refHidesSiblings) return;
    // Drafts up to 7 ignore what is beside a `$ref`, but authors mean it, and validators such as Ajv apply it.
    const all = { refHidesSiblings: false };
    comparePlaces({ ...sides, from: { ...before, ...all }, to: { ...now, ...all } }, places, found);
  });
  return report(changes, notices);
}

function compareIdentities(from: SchemaDocument, to: SchemaDocument, found: Comparison['found']): void {
  const [old = {}, next = {}] = [from.root[0], to.root[0]];
  // Draft 4 calls the address `id`.
  for (const keyword of ['$schema', '$id', 'id']) {
    const [before, now] = [show(keywordValues([old], keyword)), show(keywordValues([next], keyword))];
    if (before === now) continue;
    const addressRule = before === null ? 'identityAdded' : 'identityChanged';
    found(keyword === '$schema' ? dialectRule(old, next) : addressRule, '$', describeDifference(keyword, before, now));
  }
}

/** The definitions of a schema that only defines others. Each of them is compared as a root is. */
function comparedDefinitions(from: SchemaDocument, to: SchemaDocument, found: FoundAt): Place[] {
  const [before, now] = [onlyDefines(from) ? definitionsIn(from) : new Map(), definitionsIn(to)];
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((path) => {
    const place = { path, from: schemas(before.get(path)), to: schemas(now.get(path)) };
    if (!now.has(path)) found(place, 'definitionRemoved', path, 'The definition was removed.');
    else if (before.has(path)) return [place];
    else if (onlyDefines(from) && onlyDefines(to)) found(place, 'definitionAdded', path, 'The definition was added.');
    return [];
  });
}

/** Compares places and all places below them. Compares each pair of schemas once, so that circular schemas terminate. */
function comparePlaces(
  documents: { readonly from: SchemaDocument; readonly to: SchemaDocument; readonly closedOutputs: boolean },
  starts: readonly Place[],
  found: FoundAt,
  keyOf = placeKeys(),
  inProgress: ReadonlySet<string> = new Set(),
): void {
  const seen = new Set<string>();
  const places: Place[] = [];
  let current: Place;
  const comparison: Comparison = {
    ...documents,
    found: (...change) => found(current, ...change),
    compareLater(place) {
      const key = keyOf(place);
      if (seen.has(key)) return;
      seen.add(key);
      places.push(place);
    },
    areSame(from, to) {
      const place = { path: '', from, to };
      const key = keyOf(place);
      // The comparison of these schemas is in progress further up. Only the rest of it can find a difference.
      if (inProgress.has(key)) return true;
      let same = true;
      const different: FoundAt = (_, rule) => {
        if (rule !== 'documentationChanged') same = false;
      };
      comparePlaces(documents, [place], different, keyOf, new Set([...inProgress, key]));
      return same;
    },
  };
  for (const start of starts) comparison.compareLater(start);
  // compareLater appends to the list during the loop.
  for (const place of places) {
    current = place;
    comparePlace(comparison, place);
  }
}

/** Returns a function that gives places with the same schemas the same key. */
function placeKeys(): (place: Place) => string {
  const numbers = new Map<Schema, number>();
  const numberOf = (schema: Schema): number => {
    const number = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, number);
    return number;
  };
  return ({ from, to, nullCompared = false }) =>
    `${from.map(numberOf).join(',')}|${to.map(numberOf).join(',')}|${nullCompared}`;
}
