import { ServiceError } from '@deedwire/core';
import { ConfigError } from './config.ts';
import type { RunningService } from './service.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/**
 * Runs a process's start function, which also loads the service. If it rejects, writes the error to standard error and exits with 1.
 * Afterwards stops the service on SIGTERM or SIGINT, and logs an error that ends the process.
 */
export async function runMain(start: () => Promise<Pick<RunningService, 'logger' | 'stop'>>): Promise<void> {
  try {
    const { logger, stop } = await start();
    process.on('uncaughtExceptionMonitor', (error) => logger.fatal({ err: error }, 'uncaught error'));
    stopOnSignal(stop, logger);
  } catch (error) {
    const isOfUser = error instanceof ConfigError || error instanceof ServiceError;
    const text = isOfUser ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`, () => process.exit(1));
  }
}
