import type { Service } from '@deedwire/core';
import type { RunningApp, StartAppOptions } from '@deedwire/service-runtime';
import { startWorker } from '@deedwire/worker';
import { appEnvironment } from './app-environment.ts';

/** As `startWorker` of this package, with what only our own programs use. */
export function runWorker(service: Service, options: StartAppOptions): Promise<RunningApp> {
  return startWorker(service, {
    ...options,
    env: appEnvironment(options.env),
    contracts: async () => (await import('./contracts.ts')).workerContracts(service, options.app),
  });
}
