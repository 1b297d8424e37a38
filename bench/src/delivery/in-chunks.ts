/** Calls `work` with `size` values at a time, one call after another. */
export async function inChunks<Value>(
  values: readonly Value[],
  size: number,
  work: (chunk: Value[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < values.length; from += size) {
    await work(values.slice(from, from + size));
  }
}
