import type { PlainCode } from './findings.ts';

/** What a value may have been before it was changed, and what changed it. */
export interface Variant<Value> {
  value: Value;
  /** The changes, in the order in which they are undone. Empty for the value itself. */
  codes: readonly PlainCode[];
}

/** Undoes one change. Returns null if the value does not show it. */
export type Undo<Value> = readonly [code: PlainCode, undo: (value: Value) => Value | null];

/** Undoes up to `depth` changes. Returns each value once, with the fewest changes, those with fewer changes first. */
export function variantsOf<Value>(
  value: Value,
  undos: readonly Undo<Value>[],
  depth: number,
  isSame: (a: Value, b: Value) => boolean,
): Variant<Value>[] {
  const found: Variant<Value>[] = [{ value, codes: [] }];
  let last = found.slice();
  for (let level = 0; level < depth; level += 1) {
    const next: Variant<Value>[] = [];
    for (const variant of last) {
      for (const [code, undo] of undos) {
        const undone = variant.codes.includes(code) ? null : undo(variant.value);
        if (undone === null || found.some((known) => isSame(known.value, undone))) continue;
        const added = { value: undone, codes: [...variant.codes, code] };
        found.push(added);
        next.push(added);
      }
    }
    last = next;
  }
  return found;
}
