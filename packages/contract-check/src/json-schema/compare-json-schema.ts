import { report, type Change, type Report } from '../change.ts';
import { withinStack } from '../input-error.ts';
import { canonicalJson } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';
import { comparePlace } from './compare-place.ts';
import { changeInDirection, type Comparison, type JsonSchemaOptions, type Place } from './comparison.ts';
import { jsonSchemaRules } from './rules.ts';
import { readSchemaDocument, type Schema, type SchemaDocument } from './schema-document.ts';

/** Compares two JSON Schemas, each whole in one file. Throws an InputError when one cannot be read. */
export function compareJsonSchemas(from: SourceText, to: SourceText, options: JsonSchemaOptions): Report {
  const changes: Change[] = [];
  const found: Comparison['found'] = (rule, path, message) => {
    changes.push(changeInDirection(jsonSchemaRules[rule], options.direction, path, message));
  };
  const before = withinStack(from.file, () => readSchemaDocument(parseJson(from)));
  const now = withinStack(to.file, () => readSchemaDocument(parseJson(to)));
  withinStack(to.file, () => {
    compareIdentities(before, now, found);
    const start = { path: '$', from: before.root, to: now.root, nullJudged: false };
    comparePlaces({ from: before, to: now, closedOutputs: options.closedOutputs ?? false }, start, found);
  });
  return report(changes);
}

function compareIdentities(from: SchemaDocument, to: SchemaDocument, found: Comparison['found']): void {
  for (const keyword of ['$schema', '$id']) {
    const [before, now] = [from, to].map(({ root }) => canonicalJson(root[0]?.[keyword] ?? null));
    if (before !== now) found('identityChanged', '$', `${keyword} was ${before}, is ${now}.`);
  }
}

/** Compares a place and all places below it, each pair of schemas once: circular schemas come to an end. */
function comparePlaces(
  documents: { readonly from: SchemaDocument; readonly to: SchemaDocument; readonly closedOutputs: boolean },
  start: Place,
  found: Comparison['found'],
  keyOf = placeKeys(),
  asked: ReadonlySet<string> = new Set(),
): void {
  const met = new Set<string>();
  const places: Place[] = [];
  const comparison: Comparison = {
    ...documents,
    found,
    compareLater(place) {
      const key = keyOf(place);
      if (met.has(key)) return;
      met.add(key);
      places.push(place);
    },
    areSame(from, to) {
      const place = { path: '', from, to, nullJudged: false };
      const key = keyOf(place);
      // Asked again while the answer is being found: the same, unless something else says otherwise.
      if (asked.has(key)) return true;
      let same = true;
      const different: Comparison['found'] = (rule) => {
        if (rule !== 'documentationChanged') same = false;
      };
      comparePlaces(documents, place, different, keyOf, new Set([...asked, key]));
      return same;
    },
  };
  comparison.compareLater(start);
  // Grows while it is walked.
  for (const place of places) comparePlace(comparison, place);
}

/** The same schemas, the same text. */
function placeKeys(): (place: Place) => string {
  const numbers = new Map<Schema, number>();
  const numberOf = (schema: Schema): number => {
    const number = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, number);
    return number;
  };
  return ({ from, to, nullJudged }) => `${from.map(numberOf).join(',')}|${to.map(numberOf).join(',')}|${nullJudged}`;
}
