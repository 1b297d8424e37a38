import { report, type Change, type Report } from '../change.ts';
import { describeDifference } from '../describe-difference.ts';
import { withinStack } from '../input-error.ts';
import { canonicalJson } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';
import { comparePlace } from './compare-place.ts';
import { changeInDirection, type Comparison, type JsonSchemaOptions, type Place } from './comparison.ts';
import { meansTheSame } from './dialects.ts';
import { jsonSchemaRules } from './rules.ts';
import { readSchemaDocument, type Schema, type SchemaDocument } from './schema-document.ts';

/**
 * Compares two JSON Schemas, each complete in one file.
 *
 * @throws {InputError} when a schema is invalid.
 */
export function compareJsonSchemas(from: SourceText, to: SourceText, options: JsonSchemaOptions): Report {
  const changes: Change[] = [];
  const found: Comparison['found'] = (rule, path, message) => {
    changes.push(changeInDirection(jsonSchemaRules[rule], options.direction, path, message));
  };
  const before = withinStack(from.file, () => readSchemaDocument(parseJson(from)));
  const now = withinStack(to.file, () => readSchemaDocument(parseJson(to)));
  withinStack(to.file, () => {
    compareIdentities(before, now, found);
    const start = { path: '$', from: before.root, to: now.root, nullCompared: false };
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
  found: Comparison['found'],
  keyOf = placeKeys(),
  inProgress: ReadonlySet<string> = new Set(),
): void {
  const seen = new Set<string>();
  const places: Place[] = [];
  const comparison: Comparison = {
    ...documents,
    found,
    compareLater(place) {
      const key = keyOf(place);
      if (seen.has(key)) return;
      seen.add(key);
      places.push(place);
    },
    areSame(from, to) {
      const place = { path: '', from, to, nullCompared: false };
      const key = keyOf(place);
      // The comparison of these schemas is in progress further up. Only the rest of it can find a difference.
      if (inProgress.has(key)) return true;
      let same = true;
      const different: Comparison['found'] = (rule) => {
        if (rule !== 'documentationChanged') same = false;
      };
      comparePlaces(documents, place, different, keyOf, new Set([...inProgress, key]));
      return same;
    },
  };
  comparison.compareLater(start);
  // compareLater appends to the list during the loop.
  for (const place of places) comparePlace(comparison, place);
}

/** Returns a function that gives places with the same schemas the same key. */
function placeKeys(): (place: Place) => string {
  const numbers = new Map<Schema, number>();
  const numberOf = (schema: Schema): number => {
    const number = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, number);
    return number;
  };
  return ({ from, to, nullCompared }) =>
    `${from.map(numberOf).join(',')}|${to.map(numberOf).join(',')}|${nullCompared}`;
}
