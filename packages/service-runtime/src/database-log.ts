import type { StoreOptions } from '@deedwire/store';
import type { RaiseAlarm, ServerAlarm } from './alarms.ts';
import type { Logger } from './logger.ts';

/** The options by which the store and its listener report. Every service uses the same ones. */
export interface DatabaseLog extends Required<Pick<StoreOptions, 'onExhausted' | 'onNotifyError' | 'slowStatement'>> {
  onError: (error: unknown) => void;
}

/** Every statement can fail. */
const exhaustedPauseMs = 60_000;

export function databaseLog(
  logger: Logger,
  raiseAlarm: RaiseAlarm<ServerAlarm>,
  { SLOW_STATEMENT_MS }: { SLOW_STATEMENT_MS: number },
): DatabaseLog {
  let exhaustedAtMs = Number.NEGATIVE_INFINITY;
  return {
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
    onExhausted(error) {
      const nowMs = performance.now();
      if (nowMs - exhaustedAtMs < exhaustedPauseMs) return;
      exhaustedAtMs = nowMs;
      raiseAlarm('database-exhausted', { err: error });
    },
    onNotifyError: (error) =>
      logger.warn({ err: error }, 'could not notify the worker; it picks this up on its next poll'),
    slowStatement: {
      thresholdMs: SLOW_STATEMENT_MS,
      onSlow: ({ name: statement, ...slow }) => logger.warn({ statement, ...slow }, 'slow statement'),
    },
  };
}
