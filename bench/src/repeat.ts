/** Calls `work` in batches for about `durationMs` milliseconds. Returns the number of calls. */
export function repeat(work: () => void, durationMs: number): number {
  const batch = 100;
  const endMs = performance.now() + durationMs;
  let calls = 0;
  do {
    for (let i = 0; i < batch; i += 1) work();
    calls += batch;
  } while (performance.now() < endMs);
  return calls;
}

/** As `repeat`, with `parallel` calls in flight. `work` receives the number of its slot, counted from 0. */
export async function repeatParallel(
  work: (slot: number) => Promise<void>,
  parallel: number,
  durationMs: number,
): Promise<number> {
  const endMs = performance.now() + durationMs;
  let calls = 0;
  const slot = async (_: unknown, number: number) => {
    do {
      await work(number);
      calls += 1;
    } while (performance.now() < endMs);
  };
  await Promise.all(Array.from({ length: parallel }, slot));
  return calls;
}
