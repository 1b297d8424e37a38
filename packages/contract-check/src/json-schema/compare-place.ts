import type { JsonValue } from '../json/json-value.ts';
import { acceptsNull } from './accepts-null.ts';
import type { Alternative, Alternatives } from './alternatives.ts';
import { compareAlternative, compareAnnotations } from './compare-alternative.ts';
import type { Comparison, Place } from './comparison.ts';
import { conjunctionOf, keywordValues } from './conjunction.ts';
import { areDisjoint, areEqual, pairAlternatives, tagsOf } from './pairing.ts';
import { schemas, type Schema, type SchemaDocument } from './schema-document.ts';
import { requiredProperties } from './shape.ts';
import { instanceTypes, type InstanceType } from './value-set.ts';

/** Compares the valid values at one place: first null, then each type. */
export function comparePlace(comparison: Comparison, place: Place): void {
  const { path, from, to } = place;
  if (!place.nullCompared) {
    const [before, now] = [acceptsNull(comparison.from, from), acceptsNull(comparison.to, to)];
    if (!before && now) comparison.found('nullAdded', path, 'Null is now valid.');
    if (before && !now) comparison.found('nullRemoved', path, 'Null is no longer valid.');
  }
  const before = comparison.alternativesOf(comparison.from, from);
  const now = comparison.alternativesOf(comparison.to, to);
  for (const type of instanceTypes) compareType(comparison, path, ofType(before, type), ofType(now, type));
  compareExclusivity(comparison, place, before, now);
  if (before.list.length === 0 && now.list.length === 0) {
    // Only null is valid, or no value. Only annotations remain to be compared.
    const [old, next] = [conjunctionOf(comparison.from, from), conjunctionOf(comparison.to, to)];
    compareAnnotations(comparison, { path, from: old.schemas, to: next.schemas });
  }
}

function ofType({ list }: Alternatives, type: InstanceType): Alternative[] {
  return list.filter((alternative) => alternative.type === type);
}

function compareType(comparison: Comparison, path: string, from: readonly Alternative[], to: readonly Alternative[]) {
  const type = (from[0] ?? to[0])?.type;
  if (type === undefined) return;
  if (from.length === 0) return comparison.found('typeAdded', path, `Values of type ${type} are now valid.`);
  if (to.length === 0) return comparison.found('typeRemoved', path, `Values of type ${type} are no longer valid.`);
  const { kept, removed, added } = pairAlternatives(comparison, from, to);
  const [single] = from.length + to.length === 2 ? kept : [];
  if (single !== undefined) return compareAlternative(comparison, path, ...single);
  const [old, current] = [nameAll(comparison.from, from), nameAll(comparison.to, to)];
  for (const [before, now] of kept) {
    const alternatives = new Set([`${path} (${current.get(now)})`]);
    const within: Comparison = {
      ...comparison,
      found: (rule, place, message) => comparison.found(rule, place, message, alternatives),
      compareLater: (place) => comparison.compareLater({ ...place, alternatives: new Set(alternatives) }),
    };
    compareAlternative(within, path, before, now);
  }
  for (const each of removed)
    comparison.found('variantRemoved', path, `An alternative of type ${type} (${old.get(each)}) was removed.`);
  for (const each of added)
    comparison.found('variantAdded', path, `An alternative of type ${type} (${current.get(each)}) was added.`);
}

/** What tells alternatives apart: a title, the values or the name of a required property, or the position. */
function nameAll(document: SchemaDocument, list: readonly Alternative[]): ReadonlyMap<Alternative, string> {
  const candidates = list.map((alternative) => [
    ...keywordValues(alternative.schemas, 'title'),
    ...Array.from(tagsOf(document, alternative), ([name, values]) => `${name}: ${[...values].join(' or ')}`),
    ...Array.from(requiredProperties(alternative.schemas), (name) => `requires ${name}`),
  ]);
  const counts = Map.groupBy(candidates.flat(), (name) => name);
  const nameOf = (names: readonly string[], index: number): string =>
    names.find((name) => counts.get(name)?.length === 1) ?? `${index + 1} of ${list.length}`;
  return new Map(list.map((alternative, index) => [alternative, nameOf(candidates[index] ?? [], index)]));
}

/**
 * A `oneOf` rejects values that match several branches. If branches may overlap, a branch that is added or loosened can
 * reject more values, and one that is removed or tightened fewer.
 */
function compareExclusivity(comparison: Comparison, place: Place, before: Alternatives, now: Alternatives): void {
  const { path, from, to } = place;
  const overlapped = overlaps(comparison.from, before);
  const overlapping = overlaps(comparison.to, now);
  if (!overlapped && !overlapping) return;
  if (overlapped && overlapping && sameBranches(comparison, from, to)) return;
  if (overlapping) comparison.found('exclusive', path, severalBranches(now, 'matches', 'is now invalid'));
  if (overlapped) comparison.found('notExclusive', path, severalBranches(before, 'matched', 'can now be valid'));
}

/** Names the values that match several branches of a `oneOf`, or states that there may be none. */
function severalBranches({ repeated }: Alternatives, matches: string, isNow: string): string {
  const what = `A value that ${matches} several branches of oneOf ${isNow}`;
  return repeated.length > 0 ? `${what}: ${repeated.join(', ')}.` : `${what}. The branches may overlap.`;
}

/** Whether the `oneOf` branches at a place allow the same values, in any order. */
function sameBranches(comparison: Comparison, from: readonly Schema[], to: readonly Schema[]): boolean {
  const [before, now] = [exclusiveBranches(comparison.from, from), exclusiveBranches(comparison.to, to)];
  return areEqual(before, now, (one, other) => areEqual(one, other, comparison.areSame));
}

/** The branches of every `oneOf` at a place, nested ones included. */
function exclusiveBranches(document: SchemaDocument, start: readonly Schema[]): (readonly (readonly Schema[])[])[] {
  const found: (readonly (readonly Schema[])[])[] = [];
  const seen = new Set<readonly JsonValue[]>();
  const pending = [start];
  for (const all of pending) {
    for (const { branches, exclusive } of conjunctionOf(document, all).choices) {
      if (seen.has(branches)) continue;
      seen.add(branches);
      const proper = branches.map(schemas);
      if (exclusive) found.push(proper);
      for (const each of proper) pending.push(each);
    }
  }
  return found;
}

/** Whether a value can match several branches of a `oneOf`. */
function overlaps(document: SchemaDocument, { list, exclusive, repeated }: Alternatives): boolean {
  if (repeated.length > 0) return true;
  return exclusive && list.some((one, i) => list.slice(i + 1).some((other) => !areDisjoint(document, one, other)));
}
