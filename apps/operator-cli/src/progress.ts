import type { Shell } from './shell.ts';

const quietMs = 2_000;
const intervalMs = 500;

export interface Progress {
  /** For example `verified 1,000,000 lines`. Called as often as something has been done. */
  report(done: string): void;
  /** Removes the line. */
  end(): void;
}

/** Shows progress in a line of a terminal that is overwritten, if the work takes longer than 2 seconds. */
export function createProgress({ stderr }: Pick<Shell, 'stderr'>, monotonicMs = () => performance.now()): Progress {
  let nextMs = monotonicMs() + quietMs;
  let isShown = false;
  return {
    report(done) {
      if (stderr.isTTY !== true || monotonicMs() < nextMs) return;
      nextMs = monotonicMs() + intervalMs;
      isShown = true;
      stderr.write(`\r\u001B[K${done}`);
    },
    end() {
      if (isShown) stderr.write('\r\u001B[K');
      isShown = false;
    },
  };
}
