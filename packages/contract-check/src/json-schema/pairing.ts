import { canonicalJson } from '../json/json-value.ts';
import { acceptsNull } from './accepts-null.ts';
import { isPossible, type Alternative } from './alternatives.ts';
import { excludesAll } from './bounds.ts';
import { conjunctionOf, keywordValues } from './conjunction.ts';
import { isDocumentation, subschemaKeywords } from './keywords.ts';
import type { Schema, SchemaDocument } from './schema-document.ts';
import { declaredProperties, otherItemSchemas, propertySchemas, requiredProperties } from './shape.ts';
import { typesOf, valueSetOf, type InstanceType } from './value-set.ts';

/** The items of two lists, matched with each other. */
export interface Matched<T> {
  readonly kept: readonly (readonly [from: T, to: T])[];
  readonly removed: readonly T[];
  readonly added: readonly T[];
}

type AreSame<T> = (from: T, to: T) => boolean;

/** Matches each item with the first free one that is the same. The weaker relations match what is then left. */
export function matched<T>(
  from: readonly T[],
  to: readonly T[],
  areSame: AreSame<T>,
  ...weaker: readonly AreSame<T>[]
): Matched<T> {
  const { slots, mates, place } = matching(to, areSame);
  const removed = from.filter((each) => !place(each));
  const kept = Array.from(mates, ([{ item }, before]) => [before, item] as const);
  const added = slots.filter((slot) => !mates.has(slot)).map(({ item }) => item);
  const [next, ...others] = weaker;
  if (next === undefined) return { kept, removed, added };
  const rest = matched(removed, added, next, ...others);
  return { ...rest, kept: [...kept, ...rest.kept] };
}

/** Whether two lists have the same items, in any order. */
export function areEqual<T>(from: readonly T[], to: readonly T[], areSame: AreSame<T>): boolean {
  return from.length === to.length && from.every(matching(to, areSame).place);
}

/**
 * Places as many items as possible (Kuhn's algorithm). If a relation is still assumed in part, taking the first mate could leave
 * none for the next item, although a pair that is the same more can only help.
 */
function matching<T>(to: readonly T[], areSame: AreSame<T>) {
  const slots = to.map((item) => ({ item }));
  type Slot = (typeof slots)[number];
  const mates = new Map<Slot, T>();
  /** Their mates cannot move. */
  let fixed: ReadonlySet<Slot> = new Set();

  function search(before: T, tried: Set<Slot>): boolean {
    const canMove = (slot: Slot): boolean => {
      const mate = mates.get(slot);
      if (mate === undefined || tried.has(slot) || !areSame(before, slot.item)) return false;
      tried.add(slot);
      return search(mate, tried);
    };
    const isFree = (slot: Slot): boolean => !mates.has(slot) && areSame(before, slot.item);
    const found = slots.find(isFree) ?? slots.find(canMove);
    if (found === undefined) return false;
    mates.set(found, before);
    return true;
  }

  function place(before: T): boolean {
    const tried = new Set(fixed);
    const isPlaced = search(before, tried);
    if (!isPlaced) fixed = tried;
    return isPlaced;
  }

  return { slots, mates, place };
}

/**
 * Pairs the old alternatives with the new ones. The pairing is a guess. A wrong guess cannot hide a change, because
 * each pair is then compared in full. Names of `$defs` entries do not matter.
 */
export function pairAlternatives(
  documents: { readonly from: SchemaDocument; readonly to: SchemaDocument },
  from: readonly Alternative[],
  to: readonly Alternative[],
): Matched<Alternative> {
  const [[single], [counterpart]] = [from, to];
  if (from.length === 1 && to.length === 1 && single !== undefined && counterpart !== undefined)
    return { kept: [[single, counterpart]], removed: [], added: [] };
  documents.to.budget.spend(from.length * to.length);
  const [before, after] = [described(documents.from, from), described(documents.to, to)];
  const equal = matched(before, after, (old, now) => old.fingerprint === now.fingerprint);
  const kept = equal.kept.map(([old, now]) => [old.alternative, now.alternative] as const);
  const open = new Set([...equal.removed, ...equal.added].map(({ alternative }) => alternative));
  for (const { old, now } of similarPairs(equal.removed, equal.added)) {
    if (!open.has(old.alternative) || !open.has(now.alternative)) continue;
    for (const each of [old, now]) open.delete(each.alternative);
    kept.push([old.alternative, now.alternative]);
  }
  return { kept, removed: from.filter((each) => open.has(each)), added: to.filter((each) => open.has(each)) };
}

type Described = ReturnType<typeof described>[number];

function described(document: SchemaDocument, list: readonly Alternative[]) {
  return list.map((alternative, index) => ({ ...featuresOf(document, alternative), alternative, index }));
}

/** The possible pairs, most similar first. Equal scores are ordered by distance. */
function similarPairs(before: readonly Described[], after: readonly Described[]) {
  const candidates = before.flatMap((old) =>
    after.flatMap((now) => {
      const score = similarityOf(old, now);
      return score === null ? [] : [{ old, now, score, distance: Math.abs(old.index - now.index) }];
    }),
  );
  return candidates.toSorted(
    (a, b) => b.score - a.score || a.distance - b.distance || a.old.index - b.old.index || a.now.index - b.now.index,
  );
}

/** The number of levels that a fingerprint and a search for a contradiction cover. */
const comparedDepth = 3;

/** The features by which alternatives are matched. */
type Features = ReturnType<typeof describe>;

const knownFeatures = new WeakMap<Alternative, Features>();

function featuresOf(document: SchemaDocument, alternative: Alternative): Features {
  const features = knownFeatures.get(alternative) ?? describe(document, alternative);
  knownFeatures.set(alternative, features);
  return features;
}

function describe(document: SchemaDocument, alternative: Alternative) {
  return {
    tags: tagsOf(document, alternative),
    fingerprint: fingerprintOf(document, alternative.schemas, comparedDepth),
    properties: declaredProperties(alternative.schemas),
    titles: [...keywordValues(alternative.schemas, 'title')].join(' '),
  };
}

type Tags = ReadonlyMap<string, ReadonlySet<string>>;

const knownTags = new WeakMap<Alternative, Tags>();

/** The possible values of a required property, by name, if `enum` or `const` lists them. */
export function tagsOf(document: SchemaDocument, alternative: Alternative): Tags {
  const tags = knownTags.get(alternative) ?? readTags(document, alternative.schemas);
  knownTags.set(alternative, tags);
  return tags;
}

/** A score. A larger score means that the alternatives are more likely the same. Null if they cannot be the same. */
function similarityOf(from: Described, to: Described): number | null {
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
  const tags = tagsOf(document, one);
  for (const [name, values] of tagsOf(document, other)) {
    const counterpart = tags.get(name);
    if (counterpart !== undefined && isDisjoint(values, counterpart)) return true;
  }
  return !mayMatch(document, [...one.schemas, ...other.schemas], one.type, comparedDepth);
}

/** Whether a value of a type may match all schemas. Looks at its values, its bounds and its required properties. */
function mayMatch(document: SchemaDocument, all: readonly Schema[], type: InstanceType, depth: number): boolean {
  document.budget.spend(all.length);
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

function readTags(document: SchemaDocument, all: readonly Schema[]): Tags {
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
