/** Takes what closes something that has been started. */
export type Defer = (close: () => Promise<unknown>) => void;

/** Calls `work`, and afterwards what it deferred, the last first, even if `work` throws. */
export async function withCleanup<Result>(work: (defer: Defer) => Promise<Result>): Promise<Result> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    return await work((close) => closers.push(close));
  } finally {
    // A later start may need an earlier one until it is closed.
    for (const close of closers.toReversed()) await close();
  }
}
