import { canonicalJson } from '../json/json-value.ts';
import { acceptsNull } from './accepts-null.ts';
import { isPossible, type Alternative } from './alternatives.ts';
import { excludesAll } from './bounds.ts';
import { conjunctionOf } from './conjunction.ts';
import { keywordValues } from './keyword-values.ts';
import { isDocumentation, subschemaKeywords } from './keywords.ts';
import type { Schema, SchemaDocument } from './schema-document.ts';
import { declaredProperties, otherItemSchemas, propertySchemas, requiredProperties } from './shape.ts';
import { typesOf, valueSetOf, type InstanceType } from './value-set.ts';

/** The features by which alternatives are matched. */
export interface Features {
  /** The possible values of a required property, by name, if `enum` or `const` lists them. */
  readonly tags: ReadonlyMap<string, ReadonlySet<string>>;
  readonly fingerprint: string;
  readonly properties: ReadonlySet<string>;
  readonly titles: string;
}

/** The number of levels that a fingerprint and a search for a contradiction cover. */
const comparedDepth = 3;

const known = new WeakMap<Alternative, Features>();

export function featuresOf(document: SchemaDocument, alternative: Alternative): Features {
  const existing = known.get(alternative);
  if (existing !== undefined) return existing;
  const all = alternative.schemas;
  const features = {
    tags: tagsOf(document, all),
    fingerprint: fingerprintOf(document, all, comparedDepth),
    properties: declaredProperties(all),
    titles: [...keywordValues(all, 'title')].join(' '),
  };
  known.set(alternative, features);
  return features;
}

/** A score. A larger score means that the alternatives are more likely the same. Null if they cannot be the same. */
export function similarityOf(from: Features, to: Features): number | null {
  let score = 0;
  for (const [name, values] of from.tags) {
    const now = to.tags.get(name);
    if (now === undefined) continue;
    if (isDisjoint(values, now)) return null;
    score += 100;
  }
  if (from.titles !== '' && from.titles === to.titles) score += 10;
  const shared = [...from.properties].filter((name) => to.properties.has(name)).length;
  return score + (2 * shared) / Math.max(1, from.properties.size + to.properties.size);
}

/** Whether it is certain that no value matches both. */
export function areDisjoint(document: SchemaDocument, one: Alternative, other: Alternative): boolean {
  if (one.type !== other.type) return true;
  // Most branches have tags, which are known, so that hundreds of branches are compared soon.
  const tags = featuresOf(document, one).tags;
  for (const [name, values] of featuresOf(document, other).tags) {
    const counterpart = tags.get(name);
    if (counterpart !== undefined && isDisjoint(values, counterpart)) return true;
  }
  return !mayMatch(document, [...one.schemas, ...other.schemas], one.type, comparedDepth);
}

/** Whether a value of a type may match all schemas. Looks at its values, its bounds and its required properties. */
function mayMatch(document: SchemaDocument, all: readonly Schema[], type: InstanceType, depth: number): boolean {
  if (!isPossible(all, type) || excludesAll(type, all)) return false;
  if (type !== 'object' || depth === 0) return true;
  return [...requiredProperties(all)].every((name) => {
    const property = propertySchemas(all, name);
    const { schemas } = conjunctionOf(document, property);
    return (
      acceptsNull(document, property) || typesOf(schemas).some((each) => mayMatch(document, schemas, each, depth - 1))
    );
  });
}

function tagsOf(document: SchemaDocument, all: readonly Schema[]): Map<string, ReadonlySet<string>> {
  const tags = new Map<string, ReadonlySet<string>>();
  for (const name of requiredProperties(all)) {
    const property = propertySchemas(all, name);
    const set = valueSetOf(conjunctionOf(document, property).schemas, null);
    // OpenAPI 3.0: `nullable` allows null even if `enum` does not list it.
    if (set !== null) tags.set(name, acceptsNull(document, property) ? new Set([...set.values, 'null']) : set.values);
  }
  return tags;
}

function isDisjoint(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].every((value) => !b.has(value));
}

/** A text that is equal for schemas that are equal down to a depth. Names of definitions do not affect it. */
function fingerprintOf(document: SchemaDocument, start: readonly Schema[], depth: number): string {
  const { schemas: all } = conjunctionOf(document, start);
  const own = all.flatMap(printKeywords).toSorted().join(';');
  if (depth === 0) return own;
  const names = [...declaredProperties(all)].toSorted();
  const properties = names.map((name) => `${name}:${fingerprintOf(document, propertySchemas(all, name), depth - 1)}`);
  const items = otherItemSchemas(all);
  const item = items.length === 0 ? '' : fingerprintOf(document, items, depth - 1);
  return `${own}{${properties.join(',')}}[${item}]`;
}

/** Prints the keywords that neither contain nor refer to schemas. Skips `required`, because its order has no meaning. */
function printKeywords(schema: Schema): string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (subschemaKeywords.has(keyword) || keyword.startsWith('$') || isDocumentation(keyword)) return [];
    return keyword === 'required' ? [] : [`${keyword}=${canonicalJson(value)}`];
  });
}
