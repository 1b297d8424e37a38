import type { Logger } from '@deedwire/service-runtime';

/** Work that is done again whenever there is reason to, never twice at the same time. */
export interface Loop {
  /** There may be something to do. Asked for while the work runs, it runs once more. */
  wake(): void;
  /** Settles when the work under way is done. Nothing runs after it. */
  stop(): Promise<void>;
}

const retryMinMs = 100;
const retryMaxMs = 5_000;

/** @param work when it throws, it is tried again after a pause that grows to 5 s */
export function createLoop(name: string, logger: Logger, work: () => Promise<void>): Loop {
  let isWanted = false;
  let isStopped = false;
  let running: Promise<void> | null = null;
  let retryTimer: NodeJS.Timeout | null = null;
  let retryMs = retryMinMs;

  const run = async (): Promise<void> => {
    while (isWanted && !isStopped) {
      isWanted = false;
      try {
        await work();
        retryMs = retryMinMs;
      } catch (error) {
        logger.error({ err: error, loop: name, retryMs }, 'work failed and is tried again');
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
    if (running === null && retryTimer === null && !isStopped) running = run();
  };

  return {
    wake() {
      isWanted = true;
      start();
    },
    async stop() {
      isStopped = true;
      if (retryTimer !== null) clearTimeout(retryTimer);
      await running;
    },
  };
}
