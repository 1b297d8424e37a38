/** Compares ids of records as numbers. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The smallest and the largest id, for a statement that reads only the partitions between them. */
export function idRange(ids: readonly string[]): [min: string, max: string] {
  let [min = '0'] = ids;
  let max = min;
  for (const id of ids) {
    if (compareIds(id, min) < 0) min = id;
    else if (compareIds(id, max) > 0) max = id;
  }
  return [min, max];
}
