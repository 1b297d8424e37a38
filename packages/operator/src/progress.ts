import { clearLine, type Shell } from './shell.ts';

/** How long work takes before its progress is shown, and how often it is shown. */
const terminal = { quietMs: 2_000, intervalMs: 500 };
const lines = { quietMs: 10_000, intervalMs: 10_000 };

export interface Progress {
  /** For example `Verified 1,000,000 lines`. Called as often as something has been done. */
  report(done: string): void;
  /** Removes the line from a terminal. */
  end(): void;
}

/**
 * Shows progress: if standard output is a terminal, in a line of it that is overwritten, otherwise as plain lines on standard error.
 * With `--json` it shows no plain lines, because standard error then has JSON.
 */
export function createProgress(
  { stdout, stderr }: Pick<Shell, 'stderr' | 'stdout'>,
  { json }: { json?: true },
  monotonicMs = () => performance.now(),
): Progress {
  const isTerminal = stdout.isTTY === true;
  const { quietMs, intervalMs } = isTerminal ? terminal : lines;
  let nextMs = monotonicMs() + quietMs;
  let isShown = false;
  return {
    report(done) {
      if ((json && !isTerminal) || monotonicMs() < nextMs) return;
      nextMs = monotonicMs() + intervalMs;
      isShown = isTerminal;
      if (!isTerminal) return stderr.write(`${done}\n`);
      stdout.writeUnescaped(clearLine);
      // A part of a line that wraps could not be removed.
      stdout.write(done.slice(0, (stdout.columns || Infinity) - 1));
    },
    end() {
      if (isShown) stdout.writeUnescaped(clearLine);
      isShown = false;
    },
  };
}
