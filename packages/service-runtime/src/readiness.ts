import type { Logger } from './logger.ts';

const checkIntervalMs = 500;

export interface ReadinessOptions {
  /** Returns what is missing before the service can work, one sentence each. Changes nothing. */
  check: () => Promise<readonly string[]>;
  /** Returns what keeps the service from working although it has become ready, one sentence each. Empty if nothing does. */
  failures: () => readonly string[];
  /** Starts the service's work. The service becomes ready when it has returned. */
  onReady: () => Promise<void> | void;
  logger: Logger;
}

export interface Readiness {
  /** Empty when load balancers should send requests to this process. */
  problems(): readonly string[];
  /** True once the process has become ready. Stays true while stopping, so that late requests are served. */
  wasReady(): boolean;
  whenReady: Promise<void>;
  /** Makes the process unready for good. Resolves when a call of `onReady` that is in progress has returned. */
  stop(): Promise<void>;
}

/**
 * Repeats the check until nothing is missing, calls `onReady`, and then checks no more. A dependency that becomes
 * unavailable later fails the requests that need it; unready instances would leave the load balancer without any. A service
 * without requests reports `failures`.
 *
 * When `onReady` throws, the error is logged, the process stays unready, and both the check and `onReady` run again.
 */
export function watchReadiness({ check, failures, onReady, logger }: ReadinessOptions): Readiness {
  const { promise: whenReady, resolve } = Promise.withResolvers<void>();
  let problems: readonly string[] = ['starting'];
  let wasReady = false;
  let isStopped = false;
  let starting: Promise<readonly string[]> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function findProblems(): Promise<readonly string[]> {
    try {
      return await check();
    } catch (error) {
      logger.error({ err: error }, 'readiness check failed');
      return ['the readiness check failed; see the log'];
    }
  }

  async function startWork(): Promise<readonly string[]> {
    try {
      await onReady();
      return [];
    } catch (error) {
      logger.error({ err: error }, 'start failed');
      return ['the start failed; see the log'];
    }
  }

  async function attempt(): Promise<void> {
    let found = await findProblems();
    if (isStopped) return;
    if (found.length === 0) {
      starting = startWork();
      found = await starting;
      if (isStopped) return;
    }
    if (found.length === 0) {
      wasReady = true;
      logger.info('ready');
      resolve();
    } else {
      if (found.join('\n') !== problems.join('\n')) logger.warn({ problems: found }, 'not ready');
      timer = setTimeout(() => void attempt(), checkIntervalMs);
    }
    problems = found;
  }
  void attempt();

  return {
    problems: () => (problems.length > 0 ? problems : failures()),
    wasReady: () => wasReady,
    whenReady,
    async stop() {
      isStopped = true;
      problems = ['stopping'];
      clearTimeout(timer);
      await starting;
    },
  };
}
