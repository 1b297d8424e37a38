import type { Logger } from './logger.ts';

/** The options by which the store and its listener report to the log. Every service uses the same ones. */
export interface DatabaseLog {
  onError: (error: unknown) => void;
  onNotifyError: (error: unknown) => void;
  slowStatement: {
    thresholdMs: number;
    onSlow: (statement: { name: string; durationMs: number; rows: number | null }) => void;
  };
}

export function databaseLog(logger: Logger, { SLOW_STATEMENT_MS }: { SLOW_STATEMENT_MS: number }): DatabaseLog {
  return {
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
    onNotifyError: (error) =>
      logger.warn({ err: error }, 'could not notify the worker; it picks this up on its next poll'),
    slowStatement: {
      thresholdMs: SLOW_STATEMENT_MS,
      onSlow: ({ name: statement, ...slow }) => logger.warn({ statement, ...slow }, 'slow statement'),
    },
  };
}
