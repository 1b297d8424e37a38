import { ServiceError } from '@deedwire/core';
import { ConfigError } from './config.ts';

/** Runs a process's start function, which also loads the service. If it rejects, writes the error to standard error and exits with 1. */
export async function runMain(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    const isOfUser = error instanceof ConfigError || error instanceof ServiceError;
    const text = isOfUser ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`, () => process.exit(1));
  }
}
