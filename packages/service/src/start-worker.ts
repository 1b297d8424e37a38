import type { Service } from '@deedwire/core';
import type { RunningApp, StartAppOptions } from '@deedwire/service-runtime';
import { startWorker as start } from '@deedwire/worker';
import { appEnvironment } from './app-environment.ts';

/**
 * Starts the worker of a service in this program, which can have interfaces and the application too. It also starts without its database,
 * and becomes ready once that is reachable. It handles no signal and ends no process.
 *
 * @param options.app the URL of a module of the application, `import.meta.url`: the nearest `package.json` has its version
 * @throws {ConfigError} if a variable is missing or invalid, or names an address on which this process cannot listen
 */
export function startWorker(service: Service, options: StartAppOptions): Promise<RunningApp> {
  return start(service, { ...options, env: appEnvironment(options.env) });
}
