import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `work` `count` times at a fixed rate, whether or not earlier calls have ended. Resolves when all have ended. */
export async function paced(
  count: number,
  perSecond: number,
  work: (index: number) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  const running: Promise<unknown>[] = [];
  for (let index = 0; index < count && signal?.aborted !== true; index += 1) {
    const waitMs = startMs + (index * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    running.push(work(index));
  }
  await Promise.all(running);
}
