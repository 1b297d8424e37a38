import { canonicalJson } from '../json/json-value.ts';
import type { Alternative } from './alternatives.ts';
import { conjunctionOf } from './conjunction.ts';
import { isDocumentation, subschemaKeywords } from './keywords.ts';
import { saidUnder } from './said-under.ts';
import type { Schema, SchemaDocument } from './schema-document.ts';
import { declaredProperties, otherItemSchemas, propertySchemas, requiredProperties } from './shape.ts';
import { valueSetOf } from './value-set.ts';

/** By what alternatives are recognized. */
export interface Features {
  /** Required property → the few texts that it can be. */
  readonly tags: ReadonlyMap<string, ReadonlySet<string>>;
  readonly print: string;
  readonly properties: ReadonlySet<string>;
  readonly titles: string;
}

/** How far two alternatives are looked into to see that they are alike. */
const depthOfPrint = 3;

const known = new WeakMap<Alternative, Features>();

export function featuresOf(document: SchemaDocument, alternative: Alternative): Features {
  const existing = known.get(alternative);
  if (existing !== undefined) return existing;
  const all = alternative.schemas;
  const features = {
    tags: tagsOf(document, all),
    print: printOf(document, all, depthOfPrint),
    properties: declaredProperties(all),
    titles: [...saidUnder(all, 'title')].join(' '),
  };
  known.set(alternative, features);
  return features;
}

/** Larger: more likely the same alternative. Null: it cannot be the same. */
export function likeness(from: Features, to: Features): number | null {
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

/** Whether no value can fit both: other types, other values, or a property, always there, that tells them apart. */
export function areDisjoint(document: SchemaDocument, one: Alternative, other: Alternative): boolean {
  if (one.type !== other.type) return true;
  const [own, others] = [valueSetOf(one.schemas, one.type), valueSetOf(other.schemas, other.type)];
  if (own !== null && others !== null) return isDisjoint(own.values, others.values);
  const tags = featuresOf(document, one).tags;
  return [...featuresOf(document, other).tags].some(([name, values]) => {
    const counterpart = tags.get(name);
    return counterpart !== undefined && isDisjoint(values, counterpart);
  });
}

function tagsOf(document: SchemaDocument, all: readonly Schema[]): Map<string, ReadonlySet<string>> {
  const tags = new Map<string, ReadonlySet<string>>();
  for (const name of requiredProperties(all)) {
    const set = valueSetOf(conjunctionOf(document, propertySchemas(all, name)).schemas, 'string');
    if (set !== null) tags.set(name, set.values);
  }
  return tags;
}

function isDisjoint(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].every((value) => !b.has(value));
}

/** A text that is the same for schemas that are alike as far down as is looked, whatever their definitions are called. */
function printOf(document: SchemaDocument, start: readonly Schema[], depth: number): string {
  const { schemas: all } = conjunctionOf(document, start);
  const own = all.flatMap(printKeywords).toSorted().join(';');
  if (depth === 0) return own;
  const names = [...declaredProperties(all)].toSorted();
  const properties = names.map((name) => `${name}:${printOf(document, propertySchemas(all, name), depth - 1)}`);
  const items = otherItemSchemas(all);
  const item = items.length === 0 ? '' : printOf(document, items, depth - 1);
  return `${own}{${properties.join(',')}}[${item}]`;
}

/** Keywords that hold no schema and do not name one. The order under `required` means nothing. */
function printKeywords(schema: Schema): string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (subschemaKeywords.has(keyword) || keyword.startsWith('$') || isDocumentation(keyword)) return [];
    return keyword === 'required' ? [] : [`${keyword}=${canonicalJson(value)}`];
  });
}
