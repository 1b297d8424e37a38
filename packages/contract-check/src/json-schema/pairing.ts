import type { Alternative } from './alternatives.ts';
import { featuresOf, likeness } from './likeness.ts';
import type { SchemaDocument } from './schema-document.ts';

export interface Pairing {
  readonly kept: readonly (readonly [Alternative, Alternative])[];
  readonly removed: readonly Alternative[];
  readonly added: readonly Alternative[];
}

/** Beyond this many combinations alternatives are taken in their order. */
const maxCombinations = 40_000;

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
  const inOrder = before.length * after.length > maxCombinations;
  const candidates = before.flatMap((old, i) =>
    after.flatMap((now, j) => {
      if (inOrder && i !== j) return [];
      const score = likeness(old, now);
      return score === null ? [] : [{ i, j, score }];
    }),
  );
  candidates.sort((a, b) => b.score - a.score || Math.abs(a.i - a.j) - Math.abs(b.i - b.j) || a.i - b.i || a.j - b.j);
  const pairOf = new Map<number, number>();
  const taken = new Set<number>();
  for (const { i, j } of candidates) {
    if (pairOf.has(i) || taken.has(j)) continue;
    pairOf.set(i, j);
    taken.add(j);
  }
  return {
    kept: [...pairOf].flatMap(([i, j]) => {
      const [old, now] = [from.list[i], to.list[j]];
      return old === undefined || now === undefined ? [] : [[old, now] as const];
    }),
    removed: from.list.filter((_, i) => !pairOf.has(i)),
    added: to.list.filter((_, j) => !taken.has(j)),
  };
}
