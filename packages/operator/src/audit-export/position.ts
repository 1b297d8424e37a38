/** The place of an entry in the audit log. No two entries have the same. */
export interface Position {
  atMs: number;
  /** Orders entries of the same time. A whole number that can be larger than JavaScript represents, without leading zeros. */
  number: string;
}

/** Negative if `a` comes before `b`, 0 if they are the same. */
export function comparePositions(a: Position, b: Position): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs;
  if (a.number.length !== b.number.length) return a.number.length - b.number.length;
  return a.number < b.number ? -1 : Number(a.number > b.number);
}
