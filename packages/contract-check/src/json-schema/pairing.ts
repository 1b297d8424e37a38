import type { Alternative } from './alternatives.ts';
import type { SchemaDocument } from './schema-document.ts';
import { featuresOf, similarityOf, type Features } from './similarity.ts';

/** The items of two lists, matched with each other. */
export interface Matched<T> {
  readonly kept: readonly (readonly [from: T, to: T])[];
  readonly removed: readonly T[];
  readonly added: readonly T[];
}

/** Matches each item with the first one that is the same. */
export function matched<T>(from: readonly T[], to: readonly T[], areSame: (from: T, to: T) => boolean): Matched<T> {
  const added = [...to];
  const kept: [T, T][] = [];
  const removed = from.filter((before) => {
    const found = take(added, (now) => areSame(before, now));
    for (const now of found) kept.push([before, now]);
    return found.length === 0;
  });
  return { kept, removed, added };
}

/** Whether two lists have the same items, in any order. */
export function areEqual<T>(from: readonly T[], to: readonly T[], areSame: (from: T, to: T) => boolean): boolean {
  const rest = [...to];
  return from.length === to.length && from.every((each) => take(rest, (other) => areSame(each, other)).length > 0);
}

/** Removes and returns the first item that fits, if there is one. */
function take<T>(list: T[], fits: (item: T) => boolean): T[] {
  const at = list.findIndex(fits);
  return at === -1 ? [] : list.splice(at, 1);
}

/** Bounds the duration. Above this number of combinations, alternatives that differ are paired by position. */
const maxCombinations = 1_000_000;

/**
 * Pairs the old alternatives with the new ones. The pairing is a guess. A wrong guess cannot hide a change, because
 * each pair is then compared in full. Names of `$defs` entries do not matter.
 */
export function pairAlternatives(
  from: { document: SchemaDocument; list: readonly Alternative[] },
  to: { document: SchemaDocument; list: readonly Alternative[] },
): Matched<Alternative> {
  const [single] = from.list;
  const [counterpart] = to.list;
  if (from.list.length === 1 && to.list.length === 1 && single !== undefined && counterpart !== undefined) {
    return { kept: [[single, counterpart]], removed: [], added: [] };
  }
  const before = from.list.map((alternative) => featuresOf(from.document, alternative));
  const after = to.list.map((alternative) => featuresOf(to.document, alternative));
  const pairOf = new Map<number, number>();
  const taken = new Set<number>();
  const pair = (i: number, j: number): void => {
    if (pairOf.has(i) || taken.has(j)) return;
    pairOf.set(i, j);
    taken.add(j);
  };
  for (const [i, j] of equalPairs(before, after)) pair(i, j);
  for (const [i, j] of similarPairs(before, after, (old, now) => !pairOf.has(old) && !taken.has(now))) pair(i, j);
  return {
    kept: [...pairOf].flatMap(([i, j]) => {
      const [old, now] = [from.list[i], to.list[j]];
      return old === undefined || now === undefined ? [] : [[old, now] as const];
    }),
    removed: from.list.filter((_, i) => !pairOf.has(i)),
    added: to.list.filter((_, j) => !taken.has(j)),
  };
}

type Pair = readonly [i: number, j: number];

/** Pairs with equal fingerprints, in order. */
function equalPairs(before: readonly Features[], after: readonly Features[]): Pair[] {
  const places = new Map<string, number[]>();
  for (const [j, { fingerprint }] of after.entries()) places.set(fingerprint, [...(places.get(fingerprint) ?? []), j]);
  return before.flatMap(({ fingerprint }, i) => {
    const j = places.get(fingerprint)?.shift();
    return j === undefined ? [] : [[i, j] as const];
  });
}

/** The possible pairs, most similar first. Equal scores are ordered by distance. */
function similarPairs(
  before: readonly Features[],
  after: readonly Features[],
  isOpen: (i: number, j: number) => boolean,
): Pair[] {
  const inOrder = before.length * after.length > maxCombinations;
  const candidates = before.flatMap((old, i) =>
    after.flatMap((now, j) => {
      if (!isOpen(i, j) || (inOrder && i !== j)) return [];
      const score = similarityOf(old, now);
      return score === null ? [] : [{ i, j, score }];
    }),
  );
  candidates.sort((a, b) => b.score - a.score || Math.abs(a.i - a.j) - Math.abs(b.i - b.j) || a.i - b.i || a.j - b.j);
  return candidates.map(({ i, j }) => [i, j]);
}
