import type { Logger } from '@deedwire/service-runtime';
import type { LoopHealth, LoopName } from './loop-health.ts';

/** Work that runs on demand, never more than once at the same time. */
export interface Loop {
  /** Runs the work. If it is running already, it runs once more afterwards. */
  wake(): void;
  /** Resolves when the current run has ended. The work does not run afterwards. */
  stop(): Promise<void>;
}

const retryMinMs = 100;
const retryMaxMs = 5_000;

/** @param work retried when it throws, after a delay that doubles from 100 ms to 5 s. The signal says that the loop is stopping. */
export function createLoop(
  name: LoopName,
  { logger, loops }: { logger: Logger; loops: LoopHealth },
  work: (signal: AbortSignal) => Promise<void>,
): Loop {
  let isWanted = false;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let retryTimer: NodeJS.Timeout | null = null;
  let retryMs = retryMinMs;

  const run = async (): Promise<void> => {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false;
      try {
        await work(stopping.signal);
        retryMs = retryMinMs;
        loops.succeeded(name);
      } catch (error) {
        loops.failed(name);
        logger.error({ err: error, loop: name, retryMs }, 'work failed; it will be retried');
        retryTimer = setTimeout(() => {
          retryTimer = null;
          start();
        }, retryMs);
        retryMs = Math.min(retryMs * 2, retryMaxMs);
        isWanted = true;
        break;
      }
    }
    running = null;
  };

  const start = (): void => {
    if (running === null && retryTimer === null && !stopping.signal.aborted) running = run();
  };

  return {
    wake() {
      isWanted = true;
      start();
    },
    async stop() {
      stopping.abort();
      if (retryTimer !== null) clearTimeout(retryTimer);
      await running;
    },
  };
}
