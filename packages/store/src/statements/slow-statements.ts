/** A statement that took long. It holds no values: they may be secrets or personal data. */
export interface SlowStatement {
  /** The name of the statement; `commit` for a COMMIT. */
  name: string;
  /** Outside of a transaction, this includes the wait for a connection. */
  durationMs: number;
  /** How many rows it returned or changed. Null if it failed. */
  rows: number | null;
}

export interface SlowStatementOptions {
  /** Reports statements that take at least this long. 0 reports none. */
  thresholdMs: number;
  onSlow: (statement: SlowStatement) => void;
}

/** Runs a statement and reports it if it was slow, even when it fails. */
export function timeStatement<Result extends { rowCount: number | null }>(
  options: SlowStatementOptions | undefined,
  name: string,
  run: () => Promise<Result>,
): Promise<Result> {
  if (options === undefined || options.thresholdMs === 0) return run();
  const startedMs = performance.now();
  const report = (rows: () => number | null): void => {
    const durationMs = Math.round(performance.now() - startedMs);
    if (durationMs >= options.thresholdMs) options.onSlow({ name, durationMs, rows: rows() });
  };
  return run().then(
    (result) => {
      report(() => result.rowCount ?? 0);
      return result;
    },
    (error: unknown) => {
      report(() => null);
      throw error;
    },
  );
}
