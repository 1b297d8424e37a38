import type { Service } from '@deedwire/core';
import { runWorker } from './run-worker.ts';
import type { RunningWorker, StartOptions } from './running-app.ts';

/**
 * Starts the worker of a service in this program, which can have interfaces and the application too. It also starts without its database,
 * and becomes ready once that is reachable. It handles no signal and ends no process.
 *
 * @throws {ConfigError} if a variable is missing or invalid, or names an address on which this process cannot listen
 */
export function startWorker(service: Service, options: StartOptions): Promise<RunningWorker> {
  return runWorker(service, options);
}
