/** Returns a function that yields the same numbers for the same seed, from 0 (inclusive) to 1 (exclusive). Mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Throws. For values that a test needs: `rows[0] ?? missing()`. */
export function missing(): never {
  throw new Error('A value that the test needs is missing.');
}

/** For a process that inherits no environment: it reads the modules that other processes of the run have compiled. */
export const compileCache = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' };

/** Timeouts of a store for tests that are not about timeouts. On a busy machine any connection or statement can be slow. */
export const patientTimeouts = {
  connectMs: 120_000,
  statementMs: 120_000,
  lockMs: 120_000,
  idleInTransactionMs: 120_000,
};
