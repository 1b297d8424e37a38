import { randomUUID } from 'node:crypto';
import type { Service } from '@deedwire/core';
import {
  buildOf,
  createLogger,
  loadTracing,
  type RunningApp,
  type StartAppOptions,
  startService,
} from '@deedwire/service-runtime';
import { Registry } from 'prom-client';
import { readWorkerConfig } from './config.ts';
import { createWorker } from './worker.ts';

/**
 * Starts the worker of a service in this program, which can have interfaces too. It also starts without its database, and becomes ready once
 * that is reachable. It handles no signal and ends no process.
 *
 * @param options.app its `contracts.json` is that of the service
 * @throws {ConfigError} if a variable is missing or invalid, or names an address on which this process cannot listen
 */
export async function startWorker(
  service: Service,
  { app, contracts, env, servesAdmin }: StartAppOptions,
): Promise<RunningApp> {
  const config = readWorkerConfig(service, env);
  const { version, contracts: file } = buildOf(app);
  const logger = createLogger({ name: 'webhook-worker', level: config.LOG_LEVEL, service });
  const metrics = new Registry();
  const tracing = await loadTracing(version);
  const worker = createWorker({ service, config, logger, metrics, version, tracing });
  const { whenReady: ready, ...running } = await startService({
    app: 'webhook-worker',
    version,
    config,
    logger,
    metrics,
    servesAdmin,
    tracing,
    registration: {
      database: worker.database,
      app: 'webhook-worker',
      id: randomUUID(),
      contracts: contracts ?? file,
    },
    pools: worker.pools,
    readiness: () => worker.readiness(),
    risks: () => worker.risks(),
    failures: () => worker.failures(),
    onReady: () => worker.start(),
    stopAcceptingWork: () => worker.stopAcceptingWork(),
    drain: () => worker.drain(),
    close: () => worker.close(),
  });
  return { ready, ...running };
}
