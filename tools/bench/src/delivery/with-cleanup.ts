/**
 * Calls `work`, and afterwards what it deferred, the last first, even if `work` throws.
 *
 * @param work `defer` takes what closes something that `work` has started
 */
export async function withCleanup<Result>(
  work: (defer: (close: () => Promise<void>) => void) => Promise<Result>,
): Promise<Result> {
  const closers: (() => Promise<void>)[] = [];
  try {
    return await work((close) => closers.push(close));
  } finally {
    for (const close of closers.toReversed()) {
      // oxlint-disable-next-line no-await-in-loop -- a later start may need an earlier one until it is closed
      await close();
    }
  }
}
