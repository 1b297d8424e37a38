import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats `check` until it passes, and returns its result. Rejects with its last error after `withinMs`. */
export async function eventually<Result>(check: () => Promise<Result> | Result, withinMs = 120_000): Promise<Result> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await sleep(20);
    }
  }
}
