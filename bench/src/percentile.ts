/** The nearest-rank percentile. `fraction` is above 0 and at most 1; with 1 it is the maximum. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * fraction) - 1] ?? Number.NaN;
}
