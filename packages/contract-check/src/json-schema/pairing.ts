import type { Alternative } from './alternatives.ts';
import { featuresOf, likeness, type Features } from './likeness.ts';
import type { SchemaDocument } from './schema-document.ts';

export interface Pairing {
  readonly kept: readonly (readonly [Alternative, Alternative])[];
  readonly removed: readonly Alternative[];
  readonly added: readonly Alternative[];
}

/** Beyond this many combinations, alternatives that do not look the same are taken in their order. */
const maxCombinations = 1_000_000;

/**
 * Which alternative became which. Only a guess has to be made: a wrong one cannot hide a change, because each pair is
 * then compared in full. What a `$defs` entry is called does not count.
 */
export function pairAlternatives(
  from: { document: SchemaDocument; list: readonly Alternative[] },
  to: { document: SchemaDocument; list: readonly Alternative[] },
): Pairing {
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
  for (const [i, j] of alikePairs(before, after)) pair(i, j);
  for (const [i, j] of likelyPairs(before, after, (old, now) => !pairOf.has(old) && !taken.has(now))) pair(i, j);
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

/** Those that look the same, in their order. */
function alikePairs(before: readonly Features[], after: readonly Features[]): Pair[] {
  const places = new Map<string, number[]>();
  for (const [j, { print }] of after.entries()) places.set(print, [...(places.get(print) ?? []), j]);
  return before.flatMap(({ print }, i) => {
    const j = places.get(print)?.shift();
    return j === undefined ? [] : [[i, j] as const];
  });
}

/** Those that can be the same, the likeliest first, then those that stand nearest. */
function likelyPairs(
  before: readonly Features[],
  after: readonly Features[],
  isOpen: (i: number, j: number) => boolean,
): Pair[] {
  const inOrder = before.length * after.length > maxCombinations;
  const candidates = before.flatMap((old, i) =>
    after.flatMap((now, j) => {
      if (!isOpen(i, j) || (inOrder && i !== j)) return [];
      const score = likeness(old, now);
      return score === null ? [] : [{ i, j, score }];
    }),
  );
  candidates.sort((a, b) => b.score - a.score || Math.abs(a.i - a.j) - Math.abs(b.i - b.j) || a.i - b.i || a.j - b.j);
  return candidates.map(({ i, j }) => [i, j]);
}
