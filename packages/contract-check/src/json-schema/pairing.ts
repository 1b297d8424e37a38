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
  const described = ({ document, list }: typeof from): Described[] =>
    list.map((alternative, index) => ({ ...featuresOf(document, alternative), alternative, index }));
  const equal = matched(described(from), described(to), (old, now) => old.fingerprint === now.fingerprint);
  const kept = equal.kept.map(([old, now]) => [old.alternative, now.alternative] as const);
  const open = new Set([...equal.removed, ...equal.added].map(({ alternative }) => alternative));
  for (const { old, now } of similarPairs(equal.removed, equal.added)) {
    if (!open.has(old.alternative) || !open.has(now.alternative)) continue;
    for (const each of [old, now]) open.delete(each.alternative);
    kept.push([old.alternative, now.alternative]);
  }
  return { kept, removed: from.list.filter((each) => open.has(each)), added: to.list.filter((each) => open.has(each)) };
}

interface Described extends Features {
  readonly alternative: Alternative;
  readonly index: number;
}

/** The possible pairs, most similar first. Equal scores are ordered by distance. */
function similarPairs(before: readonly Described[], after: readonly Described[]) {
  const inOrder = before.length * after.length > maxCombinations;
  const candidates = before.flatMap((old) =>
    after.flatMap((now) => {
      if (inOrder && old.index !== now.index) return [];
      const score = similarityOf(old, now);
      return score === null ? [] : [{ old, now, score, distance: Math.abs(old.index - now.index) }];
    }),
  );
  return candidates.toSorted(
    (a, b) => b.score - a.score || a.distance - b.distance || a.old.index - b.old.index || a.now.index - b.now.index,
  );
}
