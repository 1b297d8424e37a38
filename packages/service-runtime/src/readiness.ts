import type { Logger } from './logger.ts';

const checkEveryMs = 500;

export interface Readiness {
  /** Empty when requests should be sent here. */
  problems(): readonly string[];
  /** Whether everything that is needed was there once. Stays true while stopping: requests that still come are served. */
  wasReady(): boolean;
  whenReady: Promise<void>;
  /** Not ready from now on, for good. */
  stop(): void;
}

/**
 * Checks until there is no problem any more, then asks no longer: what goes away later fails request by request, instead
 * of taking every instance out of the load balancer at once.
 */
export function watchReadiness(check: () => Promise<readonly string[]>, logger: Logger): Readiness {
  const { promise: whenReady, resolve } = Promise.withResolvers<void>();
  let problems: readonly string[] = ['starting'];
  let wasReady = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function find(): Promise<readonly string[]> {
    try {
      return await check();
    } catch (error) {
      logger.error({ err: error }, 'readiness check failed');
      return ['the readiness check failed, see the log'];
    }
  }

  async function look(): Promise<void> {
    const found = await find();
    if (stopped) return;
    if (found.length === 0) {
      wasReady = true;
      logger.info('ready');
      resolve();
    } else {
      if (found.join('\n') !== problems.join('\n')) logger.warn({ problems: found }, 'not ready');
      timer = setTimeout(() => void look(), checkEveryMs);
    }
    problems = found;
  }
  void look();

  return {
    problems: () => problems,
    wasReady: () => wasReady,
    whenReady,
    stop() {
      stopped = true;
      problems = ['stopping'];
      clearTimeout(timer);
    },
  };
}
