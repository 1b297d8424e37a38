import { report, type Change, type Report } from '../change.ts';
import { describeDifference } from '../describe-difference.ts';
import { withinStack } from '../input-error.ts';
import { canonicalJson } from '../json/json-value.ts';
import type { SourceText } from '../text-file.ts';
import { comparePlace } from './compare-place.ts';
import { changeInDirection, type Comparison, type JsonSchemaOptions, type Place } from './comparison.ts';
import { meansTheSame } from './dialects.ts';
import { locateChange } from './locate-change.ts';
import { jsonSchemaRules } from './rules.ts';
import { readSchemaDocument, type Schema, type SchemaDocument } from './schema-document.ts';

type FoundAt = (place: Place, ...found: Parameters<Comparison['found']>) => void;

/**
 * Compares two JSON Schemas. A schema may refer to files next to it if its source has `readRelative`.
 *
 * @throws {InputError} when a schema is invalid.
 */
export function compareJsonSchemas(from: SourceText, to: SourceText, options: JsonSchemaOptions): Report {
  const changes: Change[] = [];
  const before = withinStack(from.file, () => readSchemaDocument(from));
  const now = withinStack(to.file, () => readSchemaDocument(to));
  const found: FoundAt = (place, rule, path, message) => {
    const change = changeInDirection(jsonSchemaRules[rule], options.direction, path, message);
    changes.push({ ...change, ...locateChange(before, now, place, path) });
  };
  withinStack(to.file, () => {
    const start = { path: '$', from: before.root, to: now.root };
    compareIdentities(before, now, (...change) => found(start, ...change));
    comparePlaces({ from: before, to: now, closedOutputs: options.closedOutputs ?? false }, start, found);
  });
  return report(changes);
}

function compareIdentities(from: SchemaDocument, to: SchemaDocument, found: Comparison['found']): void {
  const [old, next] = [from.root[0], to.root[0]];
  for (const keyword of ['$schema', '$id']) {
    const [before = null, now = null] = [old, next].map((root) => identityOf(root, keyword));
    if (before === now) continue;
    const equivalent =
      keyword === '$schema' &&
      [old, next].every((root) => meansTheSame(root ?? true, old?.['$schema'], next?.['$schema']));
    found(equivalent ? 'dialectChanged' : 'identityChanged', '$', describeDifference(keyword, before, now));
  }
}

function identityOf(schema: Schema | undefined, keyword: string): string | null {
  const value = schema?.[keyword] ?? null;
  return value === null ? null : canonicalJson(value);
}

/** Compares a place and all places below it. Compares each pair of schemas once, so that circular schemas terminate. */
function comparePlaces(
  documents: { readonly from: SchemaDocument; readonly to: SchemaDocument; readonly closedOutputs: boolean },
  start: Place,
  found: FoundAt,
  keyOf = placeKeys(),
  inProgress: ReadonlySet<string> = new Set(),
): void {
  const seen = new Set<string>();
  const places: Place[] = [];
  let current = start;
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
      comparePlaces(documents, place, different, keyOf, new Set([...inProgress, key]));
      return same;
    },
  };
  comparison.compareLater(start);
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
